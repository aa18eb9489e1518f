-- An operator's day, in psql alone: a script for a login that is a member of tidegate_admin.
--   psql -d "$DATABASE" -v http=http://127.0.0.1:8080 -v tidegate=…/tidegate -v directory=…/app -f operators-day.sql
-- Each step prints what the operator would see; OperatorsDayTests.swift reads it.
\set ON_ERROR_STOP on
\pset format unaligned
\pset tuples_only on
\setenv HTTP :http
\setenv TIDEGATE :tidegate
\setenv DIRECTORY :directory
\setenv DATABASE :database
-- $CALL action body header: what a client sends. $UNTIL word action body header: asks until the answer has the word.
\setenv CALL 'curl -sS -H "Content-Type: application/json" -H "Accept: application/json" -H "$2" "$HTTP/app/day-abcde/endpoint/data/v1/action/$0" -d "$1"; echo'
\setenv UNTIL 'for n in $(seq 600); do a=$(sh -c "$CALL" "$1" "$2" "$3"); case "$a" in *"$0"*) echo "$a"; exit;; esac; sleep 0.1; done; echo "in vain: $a"'
\setenv FIND '{"dataSource":"mongodb-atlas","database":"day","collection":"notes","filter":{"_id":1}}'
\setenv INSERT '{"dataSource":"mongodb-atlas","database":"day","collection":"notes","document":{"_id":1,"text":"hello"}}'
\setenv SECOND '{"dataSource":"mongodb-atlas","database":"day","collection":"notes","document":{"_id":2,"text":"denied"}}'

\echo -- a new app arrives as a directory
\! "$TIDEGATE" import "$DIRECTORY" --database-url "$DATABASE"
select name, client_app_id from tidegate.list_apps() where name = 'day';

\echo -- a job needs a key
select id as key_id, key from tidegate.create_api_key('day', 'nightly') \gset
\setenv KEY :key
\! sh -c "$UNTIL" insertedId insertOne "$INSERT" "apiKey: $KEY"
select name, disabled from tidegate.list_api_keys('day');
select _id, text from tidegate_views."day.notes";

\echo -- nobody shall write any more, from now on
select tidegate.set_rules('day', 'mongodb-atlas', 'day', 'notes', '{"roles": [{"name": "reader", "apply_when": {},
  "document_filters": {"read": true, "write": false}, "read": true, "write": false}]}');
\! sh -c "$UNTIL" "not permitted" insertOne "$SECOND" "apiKey: $KEY"
\! sh -c "$CALL" findOne "$FIND" "apiKey: $KEY"

\echo -- a mistake in a rule is not taken, and says why
select tidegate.set_rules('day', 'mongodb-atlas', 'day', 'notes',
  '{"roles": [{"name": "reader", "apply_when": {"%%user.name": "ann"}, "read": true}]}');
do $$ begin
  for n in 1..600 loop
    exit when exists (select from tidegate.list_config_errors('day'));
    perform pg_sleep(0.1);
  end loop;
end $$;
select path, message from tidegate.list_config_errors('day');
\! sh -c "$CALL" findOne "$FIND" "apiKey: $KEY"
select tidegate.set_rules('day', 'mongodb-atlas', 'day', 'notes', '{"roles": [{"name": "reader", "apply_when": {},
  "document_filters": {"read": true, "write": false}, "read": true, "write": false}]}');
select tidegate.clear_config_errors('day');

\echo -- ann must not come in any more
select tidegate.create_user('day', 'ann@example.com', 'correct horse') as ann \gset
\setenv BODY '{"username":"ann@example.com","password":"correct horse"}'
\setenv LOGIN 'curl -sS -H "Content-Type: application/json" "$HTTP/api/client/v2.0/app/day-abcde/auth/providers/local-userpass/login" -d "$BODY"'
\set token `sh -c "$LOGIN" | sed 's/.*"access_token":"\([^"]*\)".*/\1/'`
\setenv TOKEN :token
\! sh -c "$CALL" findOne "$FIND" "Authorization: Bearer $TOKEN"
select provider_type, state from tidegate.list_sessions('day', 'ann@example.com');
select tidegate.disable_user('day', 'ann@example.com');
\! sh -c "$UNTIL" error_code findOne "$FIND" "Authorization: Bearer $TOKEN"
\! sh -c "$LOGIN"; echo
select provider_type, state from tidegate.list_sessions('day', 'ann@example.com');

\echo -- who was denied, and by what
do $$ begin
  for n in 1..600 loop
    exit when exists (select from tidegate.logs where app = 'day-abcde' and operation = 'insertOne' and status >= 400);
    perform pg_sleep(0.1);
  end loop;
end $$;
select distinct status, operation, namespace, role from tidegate.logs
  where app = 'day-abcde' and status >= 400 and operation = 'insertOne';
select count(*) > 0 as refused_logins from tidegate.recent_denials('day') where status = 401;

\echo -- what is slow
select operation, duration_ms > 0 as took_time from tidegate.slow_requests('day', '0 seconds') where operation = 'insertOne' limit 1;
select database, collection, documents >= 0 as is_estimated from tidegate.list_collection_sizes() where database = 'day';

\echo -- what is old goes
select tidegate.trim_logs('30 days') >= 0 as is_trimmed;
select count(*) as old from tidegate.logs where at < now() - interval '32 days';

\echo -- the job is over
select tidegate.revoke_api_key('day', :'key_id');
\! sh -c "$UNTIL" error_code findOne "$FIND" "apiKey: $KEY"
