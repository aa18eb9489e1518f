#pragma once

#include <realm/object-store/shared_realm.hpp>
#include <realm/object-store/sync/app.hpp>
#include <realm/object-store/sync/app_user.hpp>
#include <realm/sync/config.hpp>
#include <realm/sync/subscriptions.hpp>
#include <realm/util/logger.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

/// What every device of a run has in common.
struct Settings {
    std::string url = "http://127.0.0.1:9600";
    std::string app_id;
    std::string directory;
    /// The value of the partition, for partition-based sync; none for flexible sync.
    std::optional<std::string> partition;
    /// The field of the partition, where the model has it.
    std::optional<std::string> partition_key;
    realm::util::Logger::Level log_level = realm::util::Logger::Level::off;
    realm::ClientResyncMode reset_mode = realm::ClientResyncMode::Recover;
    uint64_t schema_version = 0;
    /// The schema version from which on `complexity` is a string.
    uint64_t texts_from = UINT64_MAX;
    /// From which version on class `Item` is called `Thing`.
    uint64_t renamed_from = UINT64_MAX;
    /// The classes of `Shop.hpp` instead of `Item`.
    bool is_shop = false;
    std::chrono::seconds patience{30};
};

/// Writes one line of JSON; fields are name and text in turn.
///
/// Shape: `{"event":"user","client":"a","id":"…"}`.
class Line {
public:
    explicit Line(const std::string& event, const std::string& client);
    ~Line();
    Line& text(const std::string& name, const std::string& value);
    Line& raw(const std::string& name, const std::string& value);
    static std::string quoted(const std::string& text);

private:
    std::string m_line;
};

/// One installation of the client's library: an app, a user, and one realm with class `Item`.
class Device {
public:
    Device(std::string name, const Settings& settings);
    ~Device();

    void log_in(const realm::app::AppCredentials& credentials);
    void register_email(const std::string& email, const std::string& password);
    void open();
    /// As SDKs open realms "asynchronously": what needs the server, a change of the schema's version, is waited for.
    void open_synchronized();
    void close();
    /// Goes over to the device's realm that does not sync, or back to the one that does.
    void use(bool local);
    /// Writes the open realm as the device's other one (`local`, `synced`), or as a file to be shipped (`bundle`).
    void copy(const std::string& kind);
    /// Puts the shipped file where the synced realm will be opened.
    void unpack();
    /// What the application says from its next opening on.
    void set_schema_version(uint64_t version);
    void subscribe(const std::string& name, const std::string& query);
    void describe(const std::string& query);
    void unsubscribe(const std::string& name);
    void write(const std::string& id, const std::string& owner, const std::string& name, int64_t complexity);
    void set(const std::string& id, const std::string& field, const std::string& value);
    void erase(const std::string& id);
    void print();
    void wait_for_upload();
    void wait_for_download();
    void wait_for_count(size_t count);
    void wait_for_errors(int count);
    void pause();
    void resume();
    void print_user();
    void make_person(const std::string& name);
    void change_person(const std::string& id, const std::string& mark);
    void prune_person(const std::string& id);
    void dump();
    void subscribe_all();

private:
    const std::string m_name;
    Settings m_settings;
    std::shared_ptr<realm::app::App> m_app;
    std::shared_ptr<realm::app::User> m_user;
    realm::SharedRealm m_realm;
    bool m_is_local = false;
    std::atomic<int> m_errors{0};
    /// The person made last in this run, by whatever device.
    static std::string s_person;

    realm::SharedRealm realm();
    realm::Realm::Config configuration() { return configuration(m_is_local); }
    /// What its class is called at the schema version.
    std::string item_class() const;
    realm::Realm::Config configuration(bool local);
    std::string bundle() const { return m_settings.directory + "/bundle.realm"; }
    void report(const realm::SyncError& error);
    void commit(realm::sync::MutableSubscriptionSet&& set);
    void transaction(const std::function<void(realm::Table&)>& change);
    void wait(const std::string& what,
              const std::function<void(std::function<void(std::optional<std::string>)>)>& begin);
    bool poll(const std::function<bool()>& condition);
};
