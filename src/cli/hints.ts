import { isDamagedDatabase } from '../kernel/index.ts';

/** Hints by error reason. Modules report the problem; only the command line knows the command that fixes it. */
const hints: Readonly<Record<string, string>> = {
  config_file: 'to list the places that are searched: hearth config path',
  config_syntax: 'to print a valid example: hearth config example',
  config_unknown_key: 'to print every option: hearth config example',
  config_bad_value: 'to print every option with its form: hearth config example',
  config_combination: 'to print the origin of each value: hearth config show --origin',
  config_updates_missing: 'docs/installation.md describes how to verify releases',
  release_of_other_version: 'specify the folder or URL of its release with --from',
  no_data_dir: 'hearth serve creates it at the first start; to use another folder, set --data-dir or SERVICE_DATA_DIR',
  schema_behind: 'hearth migrate; on SQLite a restart of the server migrates by itself',
  schema_newer: 'use the newer program; its "hearth rollback" restores the earlier database',
  database_unfit: 'docs/postgresql.md lists the commands that create a database for Hearth',
  database_locked: 'another process has locked the database; try again in a moment',
  port_in_use: 'choose another port with --listen, --ssh-listen or SERVICE_GRPC_LISTEN, or stop that program',
  port_forbidden: 'ports below 1024 require root: choose a higher port, or grant the service CAP_NET_BIND_SERVICE',
  no_such_address: '0.0.0.0 listens on all addresses of this machine',
  git_too_old: 'set git.program (SERVICE_GIT_PROGRAM) to use another one',
  unknown_person: 'to list all users: hearth user list',
  handle_taken: 'choose another name',
  repository_not_found: 'to list all repositories: hearth repo list',
  repository_name_taken: 'choose another name',
  no_such_owner: 'to list all users: hearth user list',
  owner_not_found: 'to list all users: hearth user list',
  issue_not_found: 'to list all issues: hearth issue list OWNER/NAME --state all',
  pull_not_found: 'to list all pull requests: hearth pull list OWNER/NAME --state all',
  merge_conflict:
    'to print the commands that fetch the branch: hearth pull checkout OWNER/NAME NUMBER; then merge the base branch into it, and push',
  unknown_label: 'create labels in the repository settings, or with POST /api/v1/repos/OWNER/NAME/labels',
  organisation_not_found: 'to list all organisations: hearth org list',
  no_such_person: 'to list all users: hearth user list',
  organisation_owns_repositories: 'hearth repo transfer OWNER/NAME OTHER, or hearth repo delete OWNER/NAME',
  person_owns_repositories:
    'hearth repo transfer OWNER/NAME OTHER, or hearth repo delete OWNER/NAME; hearth user delete NAME --purge deletes all of them',
  last_owner: 'first make another user an owner: hearth org member role ORG NAME OWNER',
  member_not_found: 'to list the members: hearth org member list ORG',
  collaborator_not_found: 'to list the collaborators: hearth repo collaborator list OWNER/NAME',
  last_administrator: 'first make another user an administrator: hearth user admin NAME on',
  administrator_exists:
    'to list administrators: hearth user list --admin; to set a new password: hearth user password NAME',
  data_dir_not_empty: 'add --confirm to move it aside, or specify another folder with --data-dir',
  backup_damaged: 'to list all problems: hearth backup verify NAME; to list other backups: hearth backup list',
  backup_under_way: 'wait until it has finished: hearth backup list',
  no_snapshot: 'Hearth creates a copy before each migration; to restore a backup, use hearth restore',
  settings_exist: 'to check it: hearth config check; to use another file, set --config',
  rule_exists:
    'to list the rules: hearth repo rule list OWNER/NAME; to remove one: hearth repo rule remove OWNER/NAME PATTERN',
  no_backup: 'to list all backups: hearth backup list',
  unknown_token: 'to list tokens with their ids: hearth token list',
  runner_not_found: 'to list runners with their numbers: hearth runner list',
  run_not_found: 'to list runs with their numbers: hearth run list OWNER/NAME',
  run_not_ended: 'to cancel it: hearth run cancel OWNER/NAME NUMBER',
  invalid_runner_secret: 'to create one: openssl rand -hex 20',
  federation_off: 'to list what is missing: hearth federation status',
  host_not_allowed: 'add it to SERVICE_FEDERATION_PEER_ALLOWLIST, or pair: hearth federation peer invite',
  unresolvable_handle: 'to find the cause: hearth federation peer test HOST',
  unknown_follow: 'to list followed repositories: hearth federation follows',
  unknown_peer: 'to list peers: hearth federation peers',
  unknown_delivery: 'to list deliveries with their numbers: hearth delivery list',
  server_not_running: 'to start it: hearth serve; to use another data folder, set --data-dir',
  unknown_job: 'to list scheduled tasks: hearth cron list',
  no_host_key: 'hearth serve creates it at the first start',
  no_offered_host_key: 'to show the trusted host key: hearth repo mirror show OWNER/NAME',
  no_mirror: 'to list mirrors: hearth repo mirror list',
  webhook_not_found: 'to list webhooks with their ids: hearth webhook list PLACE',
  tip_not_found: 'to list what can be restored: hearth repo undo OWNER/NAME',
  parcel_name_missing: 'specify the repository: hearth import FILE OWNER/NAME',
  parcel_unreadable:
    'to create a bundle of any repository: git bundle create FILE --all; to import it: hearth import FILE OWNER/NAME',
  unknown_session: 'to list sessions with their ids: hearth user sessions NAME',
  unknown_key: 'to list keys with their ids: hearth key list',
};

/** SQLite reports a corrupt file during any statement, so the error is not a refusal. */
const damagedDatabaseHint =
  'stop the server, so that it writes nothing more; to list the backups: hearth backup list; to restore one: hearth restore BACKUP --confirm';

/** The hint of an error by what caused it, or by its reason. */
export const hintOf = (error: unknown, reason: string): string | null =>
  isDamagedDatabase(error) ? damagedDatabaseHint : hintFor(reason);

export function hintFor(reason: string): string | null {
  return Object.hasOwn(hints, reason) ? hints[reason]! : null;
}

/** Every reason with a hint, for the test that all of them are used. */
export const hintedReasons: readonly string[] = Object.keys(hints);
