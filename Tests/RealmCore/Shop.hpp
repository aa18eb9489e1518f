#pragma once

#include <realm/object-store/schema.hpp>
#include <realm/object-store/shared_realm.hpp>

#include <string>

/// A model of several classes, with every kind of property that one object can hold others or many values in.
namespace shop {

/// Classes `Person`, `Order`, and the embedded `Address`.
realm::Schema schema();

/// Makes a person with an order, filled in every property; returns the person's key.
std::string make(realm::SharedRealm realm, const std::string& name);

/// Changes one thing of each kind of a person: links, lists, sets, dictionaries, embedded objects, mixed values.
void change(realm::SharedRealm realm, const std::string& id, const std::string& mark);

/// Takes most of it away again.
void prune(realm::SharedRealm realm, const std::string& id);

/// All objects as JSON.
std::string dump(realm::SharedRealm realm);

} // namespace shop
