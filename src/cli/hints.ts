/**
 * What to do about a refusal, by its reason. Rooms say what is wrong; which
 * command cures it, only the command line knows.
 */
const hints: Readonly<Record<string, string>> = {
  config_file: 'hearth config path shows which places are searched',
  config_syntax: 'hearth config example prints a file that is right',
  config_unknown_key: 'hearth config example prints every option',
  config_bad_value: 'hearth config example shows the form of every option',
  config_combination: 'hearth config show --origin tells where each value comes from',
  no_data_dir: 'hearth serve makes it at its first start; --data-dir or SERVICE_DATA_DIR names another place',
  schema_behind: 'hearth migrate, or restart the server, which migrates by itself',
  schema_newer: 'use the newer program; its "hearth rollback" puts back the copy from before',
  database_locked: 'something else holds the database; try again in a moment',
  port_in_use: 'choose another port with --listen or --ssh-listen, or stop that program',
  port_forbidden: 'ports below 1024 belong to root: choose a higher one, or give the service CAP_NET_BIND_SERVICE',
  no_such_address: '0.0.0.0 listens on all addresses of this machine',
  git_too_old: 'git.program (SERVICE_GIT_PROGRAM) names another one',
  unknown_person: 'hearth user list shows who there is',
  handle_taken: 'choose another name; --if-missing accepts a user that is already there',
  repository_not_found: 'hearth repo list shows which there are',
  repository_name_taken: 'choose another name; --if-missing accepts a repository that is already there',
  no_such_owner: 'hearth user list shows who there is',
  owner_not_found: 'hearth user list shows who there is',
  organisation_not_found: 'hearth org list shows which there are',
  no_such_person: 'hearth user list shows who there is',
  organisation_owns_repositories: 'hearth repo transfer OWNER/NAME OTHER, or hearth repo delete OWNER/NAME',
  person_owns_repositories:
    'hearth repo transfer OWNER/NAME OTHER, or hearth repo delete OWNER/NAME; hearth user delete NAME --purge deletes all of them',
  last_owner: 'make somebody else an owner first: hearth org member role ORG NAME OWNER',
  member_not_found: 'hearth org member list ORG shows who there is',
  collaborator_not_found: 'hearth repo collaborator list OWNER/NAME shows who there is',
  last_administrator: 'make somebody else an administrator first: hearth user admin NAME on',
  administrator_exists: 'hearth user list --admin shows who; hearth user password NAME sets a new password',
  data_dir_not_empty: 'add --confirm to move it aside, or give another folder with --data-dir',
  backup_damaged: 'hearth backup verify NAME lists all that is wrong; hearth backup list shows others',
  backup_under_way: 'wait until it is done: hearth backup list',
  no_snapshot: 'a copy is made before each migration; hearth restore puts a backup back',
  settings_exist: 'hearth config check looks whether it is right; --config names another place',
  no_backup: 'hearth backup list shows which there are',
  unknown_token: 'hearth token list shows the ids',
  runner_not_found: 'hearth runner list shows the numbers',
  run_not_found: 'hearth run list OWNER/NAME shows the numbers',
  run_not_ended: 'hearth run cancel OWNER/NAME NUMBER ends it',
  invalid_runner_secret: 'openssl rand -hex 20 makes one',
  federation_off: 'hearth federation status says what is missing',
  host_not_allowed: 'name it in SERVICE_FEDERATION_PEER_ALLOWLIST, or pair: hearth federation peer invite',
  unresolvable_handle: 'hearth federation peer test HOST looks for what stands between',
  unknown_follow: 'hearth federation follows shows which there are',
  unknown_peer: 'hearth federation peers shows which there are',
  unknown_delivery: 'hearth delivery list shows the numbers',
  server_not_running: 'hearth serve starts it; --data-dir names another data folder',
  unknown_job: 'hearth cron list shows which there are',
  no_host_key: 'hearth serve makes it at its first start',
  no_offered_host_key: 'hearth repo mirror show OWNER/NAME tells which host key is trusted',
  no_mirror: 'hearth repo mirror list shows which there are',
  webhook_not_found: 'hearth webhook list PLACE shows the ids',
  tip_not_found: 'hearth repo undo OWNER/NAME lists what can be restored',
  parcel_name_missing: 'hearth import FILE OWNER/NAME',
  parcel_unreadable: 'git bundle create FILE --all makes one of any repository; hearth import FILE OWNER/NAME reads it',
  unknown_session: 'hearth user sessions NAME shows the ids',
  unknown_key: 'hearth key list shows the ids',
};

export function hintFor(reason: string): string | null {
  return Object.hasOwn(hints, reason) ? hints[reason]! : null;
}

/** Every reason that has a hint, for the test that none is left over. */
export const hintedReasons: readonly string[] = Object.keys(hints);
