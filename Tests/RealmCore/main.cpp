// Lets the unmodified client library of realm-core talk to a server, as its arguments tell.

#include "Device.hpp"

#include <realm/object-store/sync/app_credentials.hpp>
#include <realm/object-store/util/scheduler.hpp>

#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

const char* usage = R"(usage: realm-core-client --app ID --dir DIRECTORY [OPTION…] COMMAND…

Options
  --url URL              the server (http://127.0.0.1:9600)
  --partition VALUE      partition-based sync with this partition, instead of flexible sync
  --partition-key FIELD  a string property of Item that holds the partition
  --model shop           classes Person, Order, Address instead of Item
  --reset MODE           recover (default), discard, recover-or-discard, manual
  --schema-version N     as the app would give it
  --texts-from N         complexity is a string from schema version N on
  --renamed-from N       class Item is called Thing from schema version N on
  --log LEVEL            off (default), error, warn, info, detail, debug, trace, all: to standard error
  --patience SECONDS     how long a command may wait (30)

Commands, in order; each prints lines of JSON
  client NAME            the device that the following commands are about (a)
  anonymous              logs in
  email ADDRESS PASSWORD logs in
  register ADDRESS PASSWORD
  user                   prints the user's id
  open | close           the realm; what needs it opens it
  open-async             waits for what the server has to say
  schema-version N       from the next opening on
  local | synced         goes over to a realm that does not sync, or back
  copy KIND              of the open realm: as the device's local or synced one, or as a bundle
  unpack                 the bundle, to be this device's synced realm
  subscribe NAME QUERY   and waits until the set is complete or refused
  describe QUERY         prints the query as it would be sent
  unsubscribe NAME
  write ID OWNER NAME COMPLEXITY   ID may be "new", OWNER "me"
  set ID FIELD VALUE     "complexity+" adds
  delete ID
  print                  the objects
  upload | download      waits until all is there
  wait-count N           waits until the realm holds N objects
  wait-errors N          waits until there were N errors in all
  pause | resume         the session
With --model shop
  subscribe-all          to every class
  make NAME              a person with an order, filled in every property
  change ID MARK         one thing of each kind; ID may be "last"
  prune ID               takes most of it away
  dump                   all objects
  sleep MILLISECONDS
)";

realm::util::Logger::Level level(const std::string& name)
{
    using Level = realm::util::Logger::Level;
    static const std::map<std::string, Level> levels{
        {"off", Level::off},   {"error", Level::error},   {"warn", Level::warn},
        {"info", Level::info}, {"detail", Level::detail}, {"debug", Level::debug},
        {"trace", Level::trace}, {"all", Level::all}};
    return levels.at(name);
}

realm::ClientResyncMode reset_mode(const std::string& name)
{
    using Mode = realm::ClientResyncMode;
    static const std::map<std::string, Mode> modes{{"recover", Mode::Recover},
                                                   {"discard", Mode::DiscardLocal},
                                                   {"recover-or-discard", Mode::RecoverOrDiscard},
                                                   {"manual", Mode::Manual}};
    return modes.at(name);
}

using Arguments = std::vector<std::string>;

struct Command {
    size_t count;
    std::function<void(Device&, const Arguments&)> run;
};

const std::map<std::string, Command>& commands()
{
    using realm::app::AppCredentials;
    static const std::map<std::string, Command> all{
        {"anonymous", {0, [](Device& device, const Arguments&) { device.log_in(AppCredentials::anonymous()); }}},
        {"email",
         {2, [](Device& device, const Arguments& a) {
              device.log_in(AppCredentials::username_password(a[0], a[1]));
          }}},
        {"register", {2, [](Device& device, const Arguments& a) { device.register_email(a[0], a[1]); }}},
        {"user", {0, [](Device& device, const Arguments&) { device.print_user(); }}},
        {"open", {0, [](Device& device, const Arguments&) { device.open(); }}},
        {"open-async", {0, [](Device& device, const Arguments&) { device.open_synchronized(); }}},
        {"local", {0, [](Device& device, const Arguments&) { device.use(true); }}},
        {"synced", {0, [](Device& device, const Arguments&) { device.use(false); }}},
        {"copy", {1, [](Device& device, const Arguments& a) { device.copy(a[0]); }}},
        {"unpack", {0, [](Device& device, const Arguments&) { device.unpack(); }}},
        {"schema-version",
         {1, [](Device& device, const Arguments& a) { device.set_schema_version(std::stoull(a[0])); }}},
        {"close", {0, [](Device& device, const Arguments&) { device.close(); }}},
        {"subscribe", {2, [](Device& device, const Arguments& a) { device.subscribe(a[0], a[1]); }}},
        {"describe", {1, [](Device& device, const Arguments& a) { device.describe(a[0]); }}},
        {"unsubscribe", {1, [](Device& device, const Arguments& a) { device.unsubscribe(a[0]); }}},
        {"write",
         {4, [](Device& device, const Arguments& a) { device.write(a[0], a[1], a[2], std::stoll(a[3])); }}},
        {"set", {3, [](Device& device, const Arguments& a) { device.set(a[0], a[1], a[2]); }}},
        {"delete", {1, [](Device& device, const Arguments& a) { device.erase(a[0]); }}},
        {"subscribe-all", {0, [](Device& device, const Arguments&) { device.subscribe_all(); }}},
        {"make", {1, [](Device& device, const Arguments& a) { device.make_person(a[0]); }}},
        {"change", {2, [](Device& device, const Arguments& a) { device.change_person(a[0], a[1]); }}},
        {"prune", {1, [](Device& device, const Arguments& a) { device.prune_person(a[0]); }}},
        {"dump", {0, [](Device& device, const Arguments&) { device.dump(); }}},
        {"print", {0, [](Device& device, const Arguments&) { device.print(); }}},
        {"upload", {0, [](Device& device, const Arguments&) { device.wait_for_upload(); }}},
        {"download", {0, [](Device& device, const Arguments&) { device.wait_for_download(); }}},
        {"wait-count", {1, [](Device& device, const Arguments& a) { device.wait_for_count(std::stoul(a[0])); }}},
        {"wait-errors", {1, [](Device& device, const Arguments& a) { device.wait_for_errors(std::stoi(a[0])); }}},
        {"pause", {0, [](Device& device, const Arguments&) { device.pause(); }}},
        {"resume", {0, [](Device& device, const Arguments&) { device.resume(); }}},
        {"sleep",
         {1, [](Device&, const Arguments& a) {
              std::this_thread::sleep_for(std::chrono::milliseconds(std::stol(a[0])));
          }}},
    };
    return all;
}

int fail(const std::string& problem)
{
    std::cerr << problem << "\n\n" << usage;
    return 2;
}

} // namespace

int main(int count, char** values)
{
    Settings settings;
    Arguments arguments(values + 1, values + count);
    size_t next = 0;
    try {
        while (next < arguments.size() && arguments[next].rfind("--", 0) == 0) {
            std::string option = arguments[next];
            std::string value = arguments.at(next + 1);
            next += 2;
            if (option == "--url")
                settings.url = value;
            else if (option == "--app")
                settings.app_id = value;
            else if (option == "--dir")
                settings.directory = value;
            else if (option == "--partition")
                settings.partition = value;
            else if (option == "--partition-key")
                settings.partition_key = value;
            else if (option == "--reset")
                settings.reset_mode = reset_mode(value);
            else if (option == "--model")
                settings.is_shop = value == "shop";
            else if (option == "--schema-version")
                settings.schema_version = std::stoull(value);
            else if (option == "--texts-from")
                settings.texts_from = std::stoull(value);
            else if (option == "--renamed-from")
                settings.renamed_from = std::stoull(value);
            else if (option == "--log")
                settings.log_level = level(value);
            else if (option == "--patience")
                settings.patience = std::chrono::seconds(std::stol(value));
            else
                return fail("unknown option " + option);
        }
    }
    catch (const std::exception&) {
        return fail("bad value of an option");
    }
    if (settings.app_id.empty() || settings.directory.empty() || next == arguments.size())
        return fail("--app, --dir and a command are needed");
    realm::util::LogCategory::realm.set_default_level_threshold(settings.log_level);
    // The library brings no event loop for this platform; the program asks instead of being notified.
    realm::util::Scheduler::set_default_factory(realm::util::Scheduler::make_dummy);

    std::map<std::string, std::unique_ptr<Device>> devices;
    std::string current = "a";
    int failures = 0;
    while (next < arguments.size()) {
        std::string name = arguments[next++];
        if (name == "client" && next < arguments.size()) {
            current = arguments[next++];
            continue;
        }
        auto found = commands().find(name);
        if (found == commands().end() || arguments.size() - next < found->second.count)
            return fail("unknown or incomplete command " + name);
        Arguments own(arguments.begin() + next, arguments.begin() + next + found->second.count);
        next += found->second.count;
        try {
            auto& device = devices[current];
            if (!device)
                device = std::make_unique<Device>(current, settings);
            found->second.run(*device, own);
        }
        catch (const std::exception& error) {
            Line("failure", current).text("command", name).text("message", error.what());
            ++failures;
        }
    }
    return failures == 0 ? 0 : 1;
}
