#include "Shop.hpp"

#include <realm/dictionary.hpp>
#include <realm/list.hpp>
#include <realm/object-store/object_schema.hpp>
#include <realm/object-store/property.hpp>
#include <realm/set.hpp>
#include <realm/table.hpp>

#include <map>
#include <sstream>
#include <stdexcept>

using namespace realm;

namespace shop {

Schema schema()
{
    using Type = PropertyType;
    ObjectSchema address{"Address", ObjectSchema::ObjectType::Embedded,
                         {{"street", Type::String}, {"lines", Type::String | Type::Array}}};
    ObjectSchema order{"Order",
                       {{"_id", Type::ObjectId, Property::IsPrimary{true}},
                        {"text", Type::String},
                        {"buyer", Type::Object | Type::Nullable, "Person"}}};
    ObjectSchema person{"Person",
                        {{"_id", Type::ObjectId, Property::IsPrimary{true}},
                         {"name", Type::String},
                         {"friend", Type::Object | Type::Nullable, "Person"},
                         {"orders", Type::Object | Type::Array, "Order"},
                         {"seen", Type::Object | Type::Set, "Order"},
                         {"tags", Type::String | Type::Array},
                         {"numbers", Type::Int | Type::Set},
                         {"notes", Type::String | Type::Dictionary},
                         {"home", Type::Object | Type::Nullable, "Address"},
                         {"addresses", Type::Object | Type::Array, "Address"},
                         {"places", Type::Object | Type::Dictionary | Type::Nullable, "Address"},
                         {"any", Type::Mixed | Type::Nullable}}};
    return Schema{address, order, person};
}

namespace {

template <class Change>
void transaction(SharedRealm realm, Change&& change)
{
    realm->begin_transaction();
    try {
        change(realm->read_group());
        realm->commit_transaction();
    }
    catch (...) {
        if (realm->is_in_transaction())
            realm->cancel_transaction();
        throw;
    }
}

Obj person(Group& group, const std::string& id)
{
    return group.get_table("class_Person")->get_object_with_primary_key(ObjectId(id.c_str()));
}

} // namespace

std::string make(SharedRealm realm, const std::string& name)
{
    ObjectId id = ObjectId::gen();
    transaction(realm, [&](Group& group) {
        Obj object = group.get_table("class_Person")->create_object_with_primary_key(id);
        Obj order = group.get_table("class_Order")->create_object_with_primary_key(ObjectId::gen());
        order.set("text", StringData("first of " + name));
        order.set("buyer", object.get_key());
        object.set("name", StringData(name));
        object.set("friend", object.get_key());
        object.get_linklist("orders").add(order.get_key());
        object.get_linkset("seen").insert(order.get_key());
        auto tags = object.get_list<String>("tags");
        tags.add("one");
        tags.add("two");
        object.get_set<Int>("numbers").insert(1);
        object.get_dictionary("notes").insert("a", "first");
        auto home = object.create_and_set_linked_object(object.get_table()->get_column_key("home"));
        home.set("street", StringData("Main Street"));
        home.get_list<String>("lines").add("top");
        auto addresses = object.get_linklist("addresses");
        addresses.create_and_insert_linked_object(0).set("street", StringData("Side Street"));
        object.get_dictionary("places").create_and_insert_linked_object("work").set("street", StringData("Wall Street"));
        auto any = object.get_table()->get_column_key("any");
        object.set_collection(any, CollectionType::Dictionary);
        auto dictionary = object.get_dictionary_ptr(any);
        dictionary->insert("number", 1);
        dictionary->insert("order", ObjLink(order.get_table()->get_key(), order.get_key()));
        dictionary->insert_collection("list", CollectionType::List);
        dictionary->get_list("list")->add(Mixed(5));
    });
    return id.to_string();
}

void change(SharedRealm realm, const std::string& id, const std::string& mark)
{
    transaction(realm, [&](Group& group) {
        Obj object = person(group, id);
        Obj order = group.get_table("class_Order")->create_object_with_primary_key(ObjectId::gen());
        order.set("text", StringData("of " + mark));
        object.get_linklist("orders").add(order.get_key());
        object.get_linkset("seen").insert(order.get_key());
        object.get_list<String>("tags").insert(1, StringData(mark));
        object.get_set<Int>("numbers").insert(int64_t(mark.size()) + 10);
        object.get_dictionary("notes").insert(StringData(mark), StringData(mark));
        auto home = object.get_linked_object(object.get_table()->get_column_key("home"));
        if (home)
            home.get_list<String>("lines").add(StringData(mark));
        auto addresses = object.get_linklist("addresses");
        addresses.create_and_insert_linked_object(addresses.size()).set("street", StringData(mark));
        object.get_dictionary("places").create_and_insert_linked_object(StringData(mark)).set("street", StringData(mark));
        auto any = object.get_table()->get_column_key("any");
        if (object.get_any(any).is_type(type_Dictionary))
            object.get_dictionary_ptr(any)->insert(StringData(mark), StringData(mark));
    });
}

void prune(SharedRealm realm, const std::string& id)
{
    transaction(realm, [&](Group& group) {
        Obj object = person(group, id);
        auto orders = object.get_linklist("orders");
        if (orders.size() > 0)
            orders.get_object(0).remove();
        object.get_list<String>("tags").clear();
        object.get_set<Int>("numbers").clear();
        object.get_dictionary("notes").clear();
        object.set_null("home");
        object.get_linklist("addresses").remove(0);
        object.get_dictionary("places").try_erase("work");
        object.set_any("any", Mixed("gone"));
        object.set_null("friend");
    });
}

std::string dump(SharedRealm realm)
{
    std::ostringstream out;
    out << "{";
    bool first = true;
    for (auto name : {"class_Order", "class_Person"}) {
        auto table = realm->read_group().get_table(name);
        std::map<std::string, Obj> sorted;
        for (auto object : *table)
            sorted[object.get<ObjectId>("_id").to_string()] = object;
        for (auto& [id, object] : sorted) {
            out << (first ? "" : ",") << "\"" << id << "\":";
            first = false;
            object.to_json(out, output_mode_xjson_plus);
        }
    }
    out << "}";
    return out.str();
}

} // namespace shop
