#include "Device.hpp"

#include "HTTPTransport.hpp"
#include "Shop.hpp"

#include <realm/object-store/object_schema.hpp>
#include <realm/object-store/property.hpp>
#include <realm/object-store/schema.hpp>
#include <realm/object-store/sync/app_credentials.hpp>
#include <realm/object-store/sync/async_open_task.hpp>
#include <realm/object-store/sync/sync_manager.hpp>
#include <realm/object-store/sync/sync_session.hpp>
#include <realm/object-store/thread_safe_reference.hpp>
#include <realm/object-store/util/scheduler.hpp>
#include <realm/util/bson/bson.hpp>

#include <filesystem>
#include <future>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <thread>

using namespace realm;

namespace {

std::string text(const Mixed& value)
{
    if (value.is_null())
        return "null";
    switch (value.get_type()) {
        case type_ObjectId:
            return value.get_object_id().to_string();
        case type_UUID:
            return value.get_uuid().to_string();
        case type_String:
            return std::string(value.get_string());
        case type_Int:
            return std::to_string(value.get_int());
        default:
            std::ostringstream out;
            out << value;
            return out.str();
    }
}

const char* name(sync::ProtocolErrorInfo::Action action)
{
    using Action = sync::ProtocolErrorInfo::Action;
    switch (action) {
        case Action::NoAction:
            return "NoAction";
        case Action::ProtocolViolation:
            return "ProtocolViolation";
        case Action::ApplicationBug:
            return "ApplicationBug";
        case Action::Warning:
            return "Warning";
        case Action::Transient:
            return "Transient";
        case Action::DeleteRealm:
            return "DeleteRealm";
        case Action::ClientReset:
            return "ClientReset";
        case Action::ClientResetNoRecovery:
            return "ClientResetNoRecovery";
        case Action::MigrateToFLX:
            return "MigrateToFLX";
        case Action::RevertToPBS:
            return "RevertToPBS";
        default:
            return "other";
    }
}

std::string name(sync::SubscriptionSet::State state)
{
    std::ostringstream out;
    out << state;
    return out.str();
}

} // namespace

Line::Line(const std::string& event, const std::string& client)
{
    m_line = "{\"event\":" + quoted(event) + ",\"client\":" + quoted(client);
}

Line::~Line()
{
    static std::mutex mutex;
    std::lock_guard<std::mutex> lock(mutex);
    std::cout << m_line << "}" << std::endl;
}

Line& Line::text(const std::string& name, const std::string& value)
{
    return raw(name, quoted(value));
}

Line& Line::raw(const std::string& name, const std::string& value)
{
    m_line += "," + quoted(name) + ":" + value;
    return *this;
}

std::string Line::quoted(const std::string& text)
{
    std::ostringstream out;
    out << '"';
    for (unsigned char byte : text) {
        if (byte == '"' || byte == '\\')
            out << '\\' << char(byte);
        else if (byte < 0x20) {
            char escape[8];
            snprintf(escape, sizeof escape, "\\u%04x", byte);
            out << escape;
        }
        else
            out << char(byte);
    }
    out << '"';
    return out.str();
}

Device::Device(std::string name, const Settings& settings)
    : m_name(std::move(name))
    , m_settings(settings)
{
    app::AppConfig config;
    config.app_id = settings.app_id;
    config.base_url = settings.url;
    config.transport = std::make_shared<HTTPTransport>();
    config.base_file_path = settings.directory + "/" + m_name;
    config.metadata_mode = app::AppConfig::MetadataMode::NoEncryption;
    config.device_info.platform_version = "1";
    config.device_info.sdk_version = "14.14.0";
    config.device_info.sdk = "realm-core";
    config.sync_client_config.log_level = settings.log_level;
    config.sync_client_config.logger_factory = [](util::Logger::Level level) {
        return std::make_shared<util::StderrLogger>(level);
    };
    std::filesystem::create_directories(config.base_file_path);
    m_app = app::App::get_app(app::App::CacheMode::Disabled, config);
    // The user of an earlier run of this device.
    m_user = m_app->current_user();
}

Device::~Device()
{
    close();
}

void Device::wait(const std::string& what,
                  const std::function<void(std::function<void(std::optional<std::string>)>)>& begin)
{
    auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
    auto future = promise->get_future();
    begin([promise](std::optional<std::string> problem) {
        promise->set_value(std::move(problem));
    });
    if (future.wait_for(m_settings.patience) != std::future_status::ready)
        throw std::runtime_error(what + " took too long");
    if (auto problem = future.get())
        throw std::runtime_error(what + ": " + *problem);
}

bool Device::poll(const std::function<bool()>& condition)
{
    auto end = std::chrono::steady_clock::now() + m_settings.patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

// MARK: Users

void Device::log_in(const app::AppCredentials& credentials)
{
    wait("log in", [&](auto done) {
        m_app->log_in_with_credentials(credentials, [this, done](const std::shared_ptr<app::User>& user,
                                                                 std::optional<app::AppError> error) {
            m_user = user;
            done(error ? std::optional<std::string>(std::string(error->reason())) : std::nullopt);
        });
    });
    print_user();
}

void Device::register_email(const std::string& email, const std::string& password)
{
    wait("register", [&](auto done) {
        auto client = m_app->provider_client<app::App::UsernamePasswordProviderClient>();
        client.register_email(email, password, [done](std::optional<app::AppError> error) {
            done(error ? std::optional<std::string>(std::string(error->reason())) : std::nullopt);
        });
    });
    Line("registered", m_name).text("email", email);
}

void Device::print_user()
{
    Line("user", m_name).text("id", m_user ? m_user->user_id() : "");
}

// MARK: The realm

void Device::report(const SyncError& error)
{
    {
        Line line("error", m_name);
        line.raw("code", std::to_string(int(error.status.code())));
        line.text("codeName", std::string(ErrorCodes::error_string(error.status.code())));
        line.text("message", std::string(error.simple_message));
        line.raw("isFatal", error.is_fatal ? "true" : "false");
        line.text("action", name(error.server_requests_action));
        std::string writes;
        for (auto& write : error.compensating_writes_info) {
            writes += writes.empty() ? "" : ",";
            writes += "{\"objectType\":" + Line::quoted(write.object_name) +
                      ",\"primaryKey\":" + Line::quoted(text(write.primary_key)) +
                      ",\"reason\":" + Line::quoted(write.reason) + "}";
        }
        if (!writes.empty())
            line.raw("compensatingWrites", "[" + writes + "]");
        for (auto& [key, value] : error.user_info)
            line.text(key, value);
    }
    ++m_errors;
}

std::string Device::item_class() const
{
    return m_settings.schema_version < m_settings.renamed_from ? "Item" : "Thing";
}

Realm::Config Device::configuration(bool local)
{
    Realm::Config config;
    config.schema_version = m_settings.schema_version;
    config.scheduler = util::Scheduler::make_dummy();
    config.automatic_change_notifications = false;
    ObjectSchema item{item_class(),
                      {{"_id", PropertyType::ObjectId, Property::IsPrimary{true}},
                       {"ownerId", PropertyType::String},
                       {"itemName", PropertyType::String},
                       {"complexity", m_settings.schema_version < m_settings.texts_from ? PropertyType::Int
                                                                                        : PropertyType::String}}};
    if (m_settings.partition_key)
        item.persisted_properties.push_back({*m_settings.partition_key, PropertyType::String});
    config.schema = m_settings.is_shop ? shop::schema() : Schema{item};
    if (local) {
        config.path = m_settings.directory + "/" + m_name + "/local.realm";
        return config;
    }
    if (!m_user)
        throw std::runtime_error("nobody is logged in");
    if (m_settings.partition)
        config.sync_config = std::make_shared<SyncConfig>(m_user, bson::Bson(*m_settings.partition));
    else
        config.sync_config = std::make_shared<SyncConfig>(m_user, SyncConfig::FLXSyncEnabled{});
    auto& sync = *config.sync_config;
    sync.stop_policy = SyncSessionStopPolicy::Immediately;
    sync.client_resync_mode = m_settings.reset_mode;
    sync.error_handler = [this](std::shared_ptr<SyncSession>, SyncError error) {
        report(error);
    };
    sync.notify_before_client_reset = [this](SharedRealm) {
        Line("before-reset", m_name);
    };
    sync.notify_after_client_reset = [this](SharedRealm, ThreadSafeReference, bool did_recover) {
        Line("after-reset", m_name).raw("didRecover", did_recover ? "true" : "false");
    };
    config.path = m_app->path_for_realm(sync);
    // As the SDKs open synced realms: what the server knows beyond the model stays.
    config.schema_mode = SchemaMode::AdditiveExplicit;
    return config;
}

void Device::open()
{
    m_realm = Realm::get_shared_realm(configuration());
    Line("open", m_name).text("path", m_realm->config().path);
}

void Device::open_synchronized()
{
    auto task = Realm::get_synchronized_realm(configuration());
    ThreadSafeReference reference;
    wait("opening", [&](auto done) {
        task->start([&reference, done](ThreadSafeReference opened, std::exception_ptr error) {
            std::optional<std::string> problem;
            try {
                if (error)
                    std::rethrow_exception(error);
                reference = std::move(opened);
            }
            catch (const std::exception& thrown) {
                problem = thrown.what();
            }
            done(problem);
        });
    });
    m_realm = Realm::get_shared_realm(std::move(reference), util::Scheduler::make_dummy());
    Line("open", m_name).raw("schemaVersion", std::to_string(m_realm->schema_version()));
}

void Device::use(bool local)
{
    close();
    m_is_local = local;
}

void Device::copy(const std::string& kind)
{
    auto config = configuration(kind == "local");
    if (kind == "bundle")
        config.path = bundle();
    std::filesystem::remove(config.path);
    auto realm = this->realm();
    realm->refresh();
    realm->convert(config);
    Line("copied", m_name).text("to", kind);
}

void Device::unpack()
{
    std::filesystem::copy(bundle(), configuration(false).path);
    Line("unpacked", m_name);
}

void Device::set_schema_version(uint64_t version)
{
    m_settings.schema_version = version;
}

void Device::close()
{
    if (!m_realm)
        return;
    auto session = m_realm->sync_session();
    m_realm->close();
    m_realm = nullptr;
    if (session)
        session->shutdown_and_wait();
}

SharedRealm Device::realm()
{
    if (!m_realm)
        open();
    return m_realm;
}

// MARK: Subscriptions

void Device::commit(sync::MutableSubscriptionSet&& changed)
{
    auto set = changed.commit();
    std::string problem;
    try {
        wait("subscription", [&](auto done) {
            set.get_state_change_notification(
                sync::SubscriptionSet::State::Complete,
                [done](std::optional<sync::SubscriptionSet::State>, std::optional<Status> status) {
                    bool failed = status && !status->is_ok();
                    done(failed ? std::optional<std::string>(std::string(status->reason())) : std::nullopt);
                });
        });
    }
    catch (const std::exception& error) {
        problem = error.what();
    }
    set.refresh();
    {
        Line line("subscription", m_name);
        line.raw("version", std::to_string(set.version())).text("state", name(set.state()));
        if (!set.error_str().is_null())
            line.text("error", std::string(set.error_str()));
    }
    realm()->refresh();
    // A query that the server refuses is an answer; none at all is a failure.
    if (!problem.empty() && set.state() != sync::SubscriptionSet::State::Error)
        throw std::runtime_error(problem);
}

void Device::subscribe(const std::string& name, const std::string& query)
{
    auto set = realm()->get_latest_subscription_set().make_mutable_copy();
    auto table = realm()->read_group().get_table("class_" + item_class());
    set.insert_or_assign(name, table->query(query));
    commit(std::move(set));
}

void Device::describe(const std::string& query)
{
    auto table = realm()->read_group().get_table("class_" + item_class());
    Line("description", m_name).text("query", table->query(query).get_description());
}

void Device::unsubscribe(const std::string& name)
{
    auto set = realm()->get_latest_subscription_set().make_mutable_copy();
    set.erase(StringData(name));
    commit(std::move(set));
}

// MARK: Objects

void Device::transaction(const std::function<void(Table&)>& change)
{
    auto realm = this->realm();
    realm->begin_transaction();
    try {
        change(*realm->read_group().get_table("class_" + item_class()));
        realm->commit_transaction();
    }
    catch (...) {
        if (realm->is_in_transaction())
            realm->cancel_transaction();
        throw;
    }
}

void Device::write(const std::string& id, const std::string& owner, const std::string& name, int64_t complexity)
{
    ObjectId key = id == "new" ? ObjectId::gen() : ObjectId(id.c_str());
    transaction([&](Table& table) {
        Obj object = table.create_object_with_primary_key(key);
        object.set("ownerId", StringData(owner == "me" && m_user ? m_user->user_id() : owner));
        object.set("itemName", StringData(name));
        object.set("complexity", complexity);
        if (m_settings.partition_key)
            object.set(*m_settings.partition_key, StringData(m_settings.partition.value_or("")));
    });
    Line("wrote", m_name).text("_id", key.to_string());
}

void Device::set(const std::string& id, const std::string& field, const std::string& value)
{
    transaction([&](Table& table) {
        Obj object = table.get_object_with_primary_key(ObjectId(id.c_str()));
        if (field == "complexity")
            object.set("complexity", int64_t(std::stoll(value)));
        else if (field == "complexity+")
            object.add_int(table.get_column_key("complexity"), std::stoll(value));
        else
            object.set(field, StringData(value == "me" && field == "ownerId" ? m_user->user_id() : value));
    });
    Line("set", m_name).text("_id", id).text(field, value);
}

void Device::erase(const std::string& id)
{
    transaction([&](Table& table) {
        table.get_object_with_primary_key(ObjectId(id.c_str())).remove();
    });
    Line("erased", m_name).text("_id", id);
}

void Device::print()
{
    auto realm = this->realm();
    realm->refresh();
    auto table = realm->read_group().get_table("class_" + item_class());
    std::map<std::string, Obj> sorted;
    for (auto object : *table)
        sorted[object.get<ObjectId>("_id").to_string()] = object;
    for (auto& [id, object] : sorted) {
        Line line("object", m_name);
        line.text("_id", id);
        for (auto column : {"ownerId", "itemName"}) {
            auto value = object.get<StringData>(column);
            line.raw(column, value.is_null() ? "null" : Line::quoted(std::string(value)));
        }
        Mixed complexity = object.get_any("complexity");
        line.raw("complexity", complexity.is_type(type_String) ? Line::quoted(::text(complexity)) : ::text(complexity));
    }
    Line("count", m_name).raw("count", std::to_string(table->size()));
}

// MARK: Waiting

void Device::wait_for_upload()
{
    auto session = realm()->sync_session();
    wait("upload", [&](auto done) {
        session->wait_for_upload_completion([done](Status status) {
            done(status.is_ok() ? std::nullopt : std::optional<std::string>(status.reason()));
        });
    });
    Line("uploaded", m_name);
}

void Device::wait_for_download()
{
    auto session = realm()->sync_session();
    wait("download", [&](auto done) {
        session->wait_for_download_completion([done](Status status) {
            done(status.is_ok() ? std::nullopt : std::optional<std::string>(status.reason()));
        });
    });
    realm()->refresh();
    Line("downloaded", m_name);
}

void Device::wait_for_count(size_t count)
{
    bool reached = poll([&] {
        realm()->refresh();
        return realm()->read_group().get_table("class_" + item_class())->size() == count;
    });
    if (!reached)
        throw std::runtime_error("the realm did not come to hold " + std::to_string(count) + " objects");
}

void Device::wait_for_errors(int count)
{
    if (!poll([&] { return m_errors >= count; }))
        throw std::runtime_error("there were " + std::to_string(m_errors) + " errors, not " + std::to_string(count));
}

void Device::pause()
{
    realm()->sync_session()->pause();
}

void Device::resume()
{
    realm()->sync_session()->resume();
}

// MARK: The shop

std::string Device::s_person;

void Device::make_person(const std::string& name)
{
    s_person = shop::make(realm(), name);
    Line("made", m_name).text("_id", s_person);
}

void Device::change_person(const std::string& id, const std::string& mark)
{
    shop::change(realm(), id == "last" ? s_person : id, mark);
    Line("changed", m_name).text("mark", mark);
}

void Device::prune_person(const std::string& id)
{
    shop::prune(realm(), id == "last" ? s_person : id);
    Line("pruned", m_name);
}

void Device::dump()
{
    realm()->refresh();
    Line("dump", m_name).raw("objects", shop::dump(realm()));
}

void Device::subscribe_all()
{
    auto set = realm()->get_latest_subscription_set().make_mutable_copy();
    for (auto name : {"Order", "Person"}) {
        auto table = realm()->read_group().get_table(std::string("class_") + name);
        set.insert_or_assign(name, table->where());
    }
    commit(std::move(set));
}
