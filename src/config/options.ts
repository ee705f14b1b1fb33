import {
  boolean,
  bucket,
  choice,
  duration,
  host,
  integer,
  keyPrefix,
  listen,
  mailbox,
  networks,
  origin,
  origins,
  path,
  peers,
  program,
  size,
  text,
  webAddress,
} from './option-types.ts';
import { oidcProviders } from './oidc-providers.ts';
import type { OptionType } from './option-types.ts';

/** A default path below the data folder. */
interface BelowDataDir {
  readonly belowDataDir: string;
}

/** One row of the table. `default` has the form of the TOML file. */
export interface Option {
  /** Section and name in the TOML file. */
  readonly key: string;
  readonly env: string;
  // The table mixes all value types; each row keeps its own in `Options`.
  readonly type: OptionType<unknown, string>;
  readonly default: string | number | boolean | readonly string[] | BelowDataDir | null;
  /** The example file's value if there is no default. */
  readonly example?: string | number;
  readonly sentence: string;
  /** Never printed; also read from the file that the variable `<env>_FILE` names. */
  readonly secret?: true;
}

const row = <const Row extends Option>(row: Row): Row => row;

/**
 * Every option of Hearth. The typed `Config`, the environment names, the flags, `config show` and config.example.toml
 * are derived from this table; a new option is one new row. SPEC §1 fixes the names that are marked so.
 */
export const options = [
  row({
    key: 'data_dir',
    env: 'SERVICE_DATA_DIR',
    type: path,
    default: './data',
    sentence: 'Folder for the database, repositories and all other data of Hearth.',
  }),
  row({
    key: 'base_url',
    env: 'SERVICE_BASE_URL',
    type: origin,
    default: null,
    example: 'https://git.example.org',
    sentence:
      'Public URL of the web pages. When unset, it is taken from each request, and only IP addresses, localhost and names of a local network (without a dot, .lan, .local, .home, .internal, .home.arpa, .test) are accepted.',
  }),

  row({
    key: 'locale',
    env: 'SERVICE_LOCALE',
    type: choice('en', 'de', 'fr'),
    default: 'en',
    sentence:
      'Language of pages and mails for users who have not chosen one and whose browser requests no available language.',
  }),

  row({
    key: 'ca_file',
    env: 'SERVICE_CA_FILE',
    type: path,
    default: null,
    example: '/etc/ssl/private-authority.pem',
    sentence:
      'PEM file of additional certificate authorities for connections to other servers; the usual ones stay trusted.',
  }),

  row({
    key: 'instance_key_file',
    env: 'SERVICE_INSTANCE_KEY_FILE',
    type: path,
    default: { belowDataDir: 'ci/secret.key' },
    sentence:
      'File of the key that encrypts stored secrets: 32 random bytes, the same on all servers of a database. The one in the data folder is created when it is missing; one at another place never.',
  }),

  row({
    key: 'database.url',
    env: 'SERVICE_DATABASE_URL',
    type: text,
    default: null,
    example: 'postgres://hearth@db.example.org/hearth',
    secret: true,
    sentence:
      'PostgreSQL instead of the SQLite file in the data folder: an address that begins with postgres://. See docs/postgresql.md.',
  }),
  row({
    key: 'database.pool',
    env: 'SERVICE_DATABASE_POOL',
    type: integer(1, 100),
    default: 8,
    sentence: 'Number of PostgreSQL connections for reads, and of further ones for concurrent writes.',
  }),

  row({
    key: 'http.listen',
    env: 'SERVICE_HTTP_LISTEN',
    type: listen,
    default: '0.0.0.0:3000',
    sentence: 'Where web pages, the JSON API and git over HTTP are served. Port 0 picks a free one.',
  }),

  row({
    key: 'ssh.enabled',
    env: 'SERVICE_SSH_ENABLED',
    type: boolean,
    default: true,
    sentence: 'Serve git over SSH with the built-in server.',
  }),
  row({
    key: 'ssh.system_sshd',
    env: 'SERVICE_SSH_SYSTEM_SSHD',
    type: boolean,
    default: false,
    sentence:
      "Let this machine's own sshd serve git over SSH; the built-in server then stays closed. See docs/installation.md.",
  }),
  row({
    key: 'ssh.listen',
    env: 'SERVICE_SSH_LISTEN',
    type: listen,
    default: '0.0.0.0:2222',
    sentence: 'Where git over SSH is served. Port 0 picks a free one.',
  }),
  row({
    key: 'ssh.public_host',
    env: 'SERVICE_SSH_PUBLIC_HOST',
    type: host,
    default: null,
    example: 'git.example.org',
    sentence: 'Host name shown in SSH clone addresses. When unset, that of the web address.',
  }),
  row({
    key: 'ssh.public_port',
    env: 'SERVICE_SSH_PUBLIC_PORT',
    type: integer(1, 65_535),
    default: null,
    example: 22,
    sentence: 'Port shown in SSH clone addresses. Set it when a container or router publishes another one.',
  }),

  row({
    key: 'grpc.listen',
    env: 'SERVICE_GRPC_LISTEN',
    type: listen,
    default: '0.0.0.0:3001',
    sentence: 'Where CI runners connect over gRPC. Port 0 picks a free one.',
  }),

  row({
    key: 'proxy.trusted',
    env: 'SERVICE_PROXY_TRUSTED',
    type: networks,
    default: ['loopback'],
    sentence:
      'Peers whose X-Forwarded-* headers count: addresses, networks, "loopback", "private". Empty trusts no proxy.',
  }),
  row({
    key: 'proxy.send_files',
    env: 'SERVICE_PROXY_SEND_FILES',
    type: text,
    default: null,
    example: '/hearth-objects/',
    sentence:
      'Internal nginx location that serves the folder objects of the data folder: nginx sends package downloads from there (X-Accel-Redirect). See docs/installation.md.',
  }),

  row({
    key: 'git.program',
    env: 'SERVICE_GIT_PROGRAM',
    type: program,
    default: 'git',
    sentence: 'The git program, 2.39 or newer: a name to look up on PATH, or a path.',
  }),
  row({
    key: 'git.read_slots',
    env: 'SERVICE_GIT_READ_SLOTS',
    type: integer(1, 1_000),
    default: 8,
    sentence: 'How many clones and fetches can run at the same time.',
  }),
  row({
    key: 'git.write_slots',
    env: 'SERVICE_GIT_WRITE_SLOTS',
    type: integer(1, 1_000),
    default: 4,
    sentence: 'How many pushes can run at the same time.',
  }),
  row({
    key: 'git.queue',
    env: 'SERVICE_GIT_QUEUE',
    type: integer(0, 100_000),
    default: 128,
    sentence: 'How many git requests can wait for a slot before further ones are rejected.',
  }),
  row({
    key: 'git.queue_wait',
    env: 'SERVICE_GIT_QUEUE_WAIT',
    type: duration('100ms', '1h'),
    default: '30s',
    sentence: 'How long a git request can wait for a slot.',
  }),
  row({
    key: 'git.max_push_size',
    env: 'SERVICE_GIT_MAX_PUSH_SIZE',
    type: size('1MiB', '1TiB'),
    default: '4GiB',
    sentence: 'Largest pack that one push can send.',
  }),
  row({
    key: 'git.max_push_objects',
    env: 'SERVICE_GIT_MAX_PUSH_OBJECTS',
    type: integer(1_000, 1_000_000_000),
    default: 10_000_000,
    sentence: 'Largest number of objects in one push. Each takes about a hundred bytes of memory while it is received.',
  }),
  row({
    key: 'git.max_push_memory',
    env: 'SERVICE_GIT_MAX_PUSH_MEMORY',
    type: size('16MiB', '1TiB'),
    default: '128MiB',
    sentence:
      'Largest object that git holds in memory during a push; two or three can be needed at the same time. A file that is sent whole, not as a change, can be larger.',
  }),
  row({
    key: 'git.max_push_cpu',
    env: 'SERVICE_GIT_MAX_PUSH_CPU',
    type: duration('1s', '24h'),
    default: '60s',
    sentence: 'CPU time that git can spend on one push, in addition to ten seconds for each MiB of it.',
  }),
  row({
    key: 'git.read_commit_graph',
    env: 'SERVICE_GIT_READ_COMMIT_GRAPH',
    type: boolean,
    default: true,
    sentence:
      "Read git's commit-graph file to find the last commit of each file of a folder. Without it git lists the commits, which is slower.",
  }),

  row({
    key: 'git.storage',
    env: 'SERVICE_GIT_STORAGE',
    type: choice('local', 'store'),
    default: 'local',
    sentence:
      'Where new repositories are: local (folders below storage.root) or store (refs in the database, packs in the object store; the folders are caches). See docs/repository-store.md.',
  }),

  row({
    key: 'git.cache',
    env: 'SERVICE_GIT_CACHE',
    type: size('1MiB', '1024TiB'),
    default: null,
    example: '200GiB',
    sentence:
      'Disk space for the caches of repositories in the store; the least recently used are removed first. When unset, 80 % of the disk.',
  }),

  row({
    key: 'storage.root',
    env: 'SERVICE_STORAGE_ROOT',
    type: path,
    default: { belowDataDir: 'repositories' },
    sentence: 'Folder of the bare git repositories. It must be on the same file system as the data folder.',
  }),
  row({
    key: 'storage.low_disk_floor',
    env: 'SERVICE_STORAGE_LOW_DISK_FLOOR',
    type: size('0B', '1TiB'),
    default: '512MiB',
    sentence: 'With less free space than this, pushes and uploads are refused; reading still works.',
  }),

  row({
    key: 'integrity.every',
    env: 'SERVICE_INTEGRITY_EVERY',
    type: duration('1d', '3650d'),
    default: '30d',
    sentence:
      'How often every object of every repository and every stored file is read and compared with its checksum, at night.',
  }),
  row({
    key: 'integrity.window',
    env: 'SERVICE_INTEGRITY_WINDOW',
    type: duration('0s', '12h'),
    default: '1h',
    sentence: 'How long that can take in one night, from 05:30; the next night continues. 0s disables it.',
  }),

  row({
    key: 'repositories.push_to_create',
    env: 'SERVICE_REPOSITORIES_PUSH_TO_CREATE',
    type: boolean,
    default: false,
    sentence: 'Create a private repository when a user pushes to one of their own that does not exist.',
  }),
  row({
    key: 'repositories.max_change',
    env: 'SERVICE_REPOSITORIES_MAX_CHANGE',
    type: size('64KiB', '256MiB'),
    default: '32MiB',
    sentence:
      'Largest total size of the files in one change made in the browser or over the API; they are held in memory.',
  }),
  row({
    key: 'repositories.image_root',
    env: 'SERVICE_REPO_IMAGE_ROOT',
    type: path,
    default: { belowDataDir: 'repo-images' },
    sentence: 'Folder of the repository images, one file per repository.',
  }),
  row({
    key: 'repositories.remote_images',
    env: 'SERVICE_REPOSITORIES_REMOTE_IMAGES',
    type: boolean,
    default: true,
    sentence:
      'Show images of other hosts in documents; this server fetches them, so those hosts never see your readers. When false, they are links.',
  }),
  row({
    key: 'repositories.remote_image_cache',
    env: 'SERVICE_REPOSITORIES_REMOTE_IMAGE_CACHE',
    type: size('16MiB', '1TiB'),
    default: '256MiB',
    sentence: 'Disk space for fetched images of other hosts; the least recently used are removed first.',
  }),
  row({
    key: 'repositories.remote_image_hosts',
    env: 'SERVICE_REPOSITORIES_REMOTE_IMAGE_HOSTS',
    type: peers,
    default: [],
    sentence:
      'Hosts in your own network from which images can also be fetched; anyone who writes a document can request any image there: "ci.lan" (ports 80 and 443) or "ci.lan:8080" (that port).',
  }),
  row({
    key: 'repositories.trash_keep',
    env: 'SERVICE_REPOSITORIES_TRASH_KEEP',
    type: duration('1h', '3650d'),
    default: '30d',
    sentence: 'How long a deleted repository can be restored.',
  }),
  row({
    key: 'repositories.undo_keep',
    env: 'SERVICE_REPOSITORIES_UNDO_KEEP',
    type: duration('1h', '3650d'),
    default: '30d',
    sentence: 'How long a forced push or a deleted branch can be undone.',
  }),

  row({
    key: 'repositories.push_keep',
    env: 'SERVICE_REPOSITORIES_PUSH_KEEP',
    type: duration('30d', '36500d'),
    default: '730d',
    sentence:
      'How long the push journal, which the Activity page shows, is kept; the last push of each branch and tag stays.',
  }),

  row({
    key: 'issues.attachment_size',
    env: 'SERVICE_ISSUES_ATTACHMENT_SIZE',
    type: size('1KiB', '64MiB'),
    default: '10MiB',
    sentence: 'Largest file that can be attached to an issue or a comment.',
  }),
  row({
    key: 'issues.attachment_quota',
    env: 'SERVICE_ISSUES_ATTACHMENT_QUOTA',
    type: size('0B', '1TiB'),
    default: '1GiB',
    sentence: 'Largest total size of the files of all issues of one repository.',
  }),
  row({
    key: 'issues.person_rate_per_minute',
    env: 'SERVICE_ISSUES_PERSON_RATE_PER_MINUTE',
    type: integer(0, 1_000_000),
    default: 60,
    sentence:
      'How many issues, comments, reactions, reviews and files one user can add in a minute, in all repositories without write access; 0 means no limit. Administrators have no limit.',
  }),
  row({
    key: 'issues.person_rate_per_hour',
    env: 'SERVICE_ISSUES_PERSON_RATE_PER_HOUR',
    type: integer(0, 1_000_000),
    default: 600,
    sentence: 'The same in an hour.',
  }),
  row({
    key: 'issues.repository_rate_per_minute',
    env: 'SERVICE_ISSUES_REPOSITORY_RATE_PER_MINUTE',
    type: integer(0, 1_000_000),
    default: 120,
    sentence: 'How many of these all non-members of a repository together can add to it in a minute; 0 means no limit.',
  }),
  row({
    key: 'issues.repository_rate_per_hour',
    env: 'SERVICE_ISSUES_REPOSITORY_RATE_PER_HOUR',
    type: integer(0, 1_000_000),
    default: 1_200,
    sentence: 'The same in an hour.',
  }),

  row({
    key: 'releases.file_size',
    env: 'SERVICE_RELEASES_FILE_SIZE',
    type: size('1KiB', '1TiB'),
    default: '2GiB',
    sentence: 'Largest file of a release.',
  }),
  row({
    key: 'releases.repository_quota',
    env: 'SERVICE_RELEASES_REPOSITORY_QUOTA',
    type: size('0B', '100TiB'),
    default: '20GiB',
    sentence: 'Largest total size of the files of all releases of one repository.',
  }),
  row({
    key: 'releases.owner_quota',
    env: 'SERVICE_RELEASES_OWNER_QUOTA',
    type: size('0B', '100TiB'),
    default: '100GiB',
    sentence: 'Largest total size of the files of all releases of one user or organisation.',
  }),

  row({
    key: 'pulls.contributed_push_size',
    env: 'SERVICE_PULLS_CONTRIBUTED_PUSH_SIZE',
    type: size('1MiB', '1TiB'),
    default: '64MiB',
    sentence: 'Largest pack that a user without write access can push to a pull request.',
  }),
  row({
    key: 'pulls.queue_timeout',
    env: 'SERVICE_PULLS_QUEUE_TIMEOUT',
    type: duration('1m', '7d'),
    default: '2h',
    sentence: 'How long the test of one pull request in a merge queue can take.',
  }),
  row({
    key: 'pulls.contributed_size',
    env: 'SERVICE_PULLS_CONTRIBUTED_SIZE',
    type: size('1MiB', '1TiB'),
    default: '256MiB',
    sentence: 'Largest total size of the rounds of one user in a repository without write access.',
  }),

  row({
    key: 'lfs.enabled',
    env: 'SERVICE_LFS_ENABLED',
    type: boolean,
    default: true,
    sentence: 'Store Git LFS files. When false, clients get an error; stored objects are kept.',
  }),
  row({
    key: 'lfs.max_object_size',
    env: 'SERVICE_LFS_MAX_OBJECT_SIZE',
    type: size('1KiB', '16TiB'),
    default: '2GiB',
    sentence: 'Largest file that can be stored with Git LFS.',
  }),
  row({
    key: 'lfs.repository_quota',
    env: 'SERVICE_LFS_REPOSITORY_QUOTA',
    type: size('0B', '1024TiB'),
    default: '10GiB',
    sentence: 'Largest total size of the Git LFS files of one repository.',
  }),
  row({
    key: 'lfs.owner_quota',
    env: 'SERVICE_LFS_OWNER_QUOTA',
    type: size('0B', '1024TiB'),
    default: '50GiB',
    sentence: 'The same for all repositories of one user or organisation.',
  }),
  row({
    key: 'lfs.keep_unreferenced',
    env: 'SERVICE_LFS_KEEP_UNREFERENCED',
    type: duration('1d', '3650d'),
    default: '30d',
    sentence: 'How long a Git LFS file is kept after no commit of its repository refers to it.',
  }),

  row({
    key: 'packages.enabled',
    env: 'SERVICE_PACKAGES_ENABLED',
    type: boolean,
    default: true,
    sentence: 'Serve packages: container images, npm and the other formats. When false, stored packages are kept.',
  }),
  row({
    key: 'packages.max_file_size',
    env: 'SERVICE_PACKAGES_MAX_FILE_SIZE',
    type: size('1KiB', '16TiB'),
    default: '10GiB',
    sentence: 'Largest file of a package, and largest layer of an image.',
  }),
  row({
    key: 'packages.owner_quota',
    env: 'SERVICE_PACKAGES_OWNER_QUOTA',
    type: size('0B', '1024TiB'),
    default: '100GiB',
    sentence: 'Largest total size of the packages of one user or organisation; identical content counts once.',
  }),
  row({
    key: 'packages.default_visibility',
    env: 'SERVICE_PACKAGES_DEFAULT_VISIBILITY',
    type: choice('public', 'private'),
    default: 'public',
    sentence:
      'Default visibility of a package without a repository: public (everyone) or private (its owner and the members of the organisation).',
  }),

  row({
    key: 'accounts.second_factor',
    env: 'SERVICE_ACCOUNTS_SECOND_FACTOR',
    type: choice('optional', 'administrators', 'everyone'),
    default: 'optional',
    sentence:
      'Which users must set up a second factor (an authenticator app or a passkey) after signing in: optional leaves it to each user.',
  }),
  row({
    key: 'accounts.sign_up',
    env: 'SERVICE_ACCOUNTS_SIGN_UP',
    type: choice('invite', 'approval'),
    default: 'invite',
    sentence:
      'How users register: invite allows invitations only; approval also offers a form on /signup/request, whose requests an administrator approves.',
  }),
  row({
    key: 'accounts.password_sign_in',
    env: 'SERVICE_ACCOUNTS_PASSWORD_SIGN_IN',
    type: boolean,
    default: true,
    sentence:
      'Allow password sign-in. When false, a provider is required; use `hearth user sign-in-link` while it is down.',
  }),

  row({
    key: 'sessions.idle',
    env: 'SERVICE_SESSIONS_IDLE',
    type: duration('1m', '365d'),
    default: '14d',
    sentence: 'A browser session ends after this much time without a request.',
  }),
  row({
    key: 'sessions.lifetime',
    env: 'SERVICE_SESSIONS_LIFETIME',
    type: duration('1m', '3650d'),
    default: '90d',
    sentence: 'A browser session ends this long after sign-in, used or not.',
  }),
  row({
    key: 'sessions.confirm_after',
    env: 'SERVICE_SESSIONS_CONFIRM_AFTER',
    type: duration('1m', '365d'),
    default: '10m',
    sentence:
      'Deletions, transfers and changes to keys, tokens and addresses require users to confirm their identity if they last did so longer ago than this.',
  }),
  row({
    key: 'tokens.max_per_person',
    env: 'SERVICE_TOKENS_MAX_PER_PERSON',
    type: integer(0, 10_000),
    default: 100,
    sentence: 'How many access tokens one user can have.',
  }),
  row({
    key: 'keys.max_per_person',
    env: 'SERVICE_KEYS_MAX_PER_PERSON',
    type: integer(0, 10_000),
    default: 50,
    sentence: 'How many SSH keys one user can have.',
  }),
  row({
    key: 'keys.max_per_repository',
    env: 'SERVICE_KEYS_MAX_PER_REPOSITORY',
    type: integer(0, 10_000),
    default: 50,
    sentence: 'How many deploy keys one repository can have.',
  }),
  row({
    key: 'addresses.max_per_person',
    env: 'SERVICE_ADDRESSES_MAX_PER_PERSON',
    type: integer(0, 1_000),
    default: 20,
    sentence: 'How many email addresses one user can have.',
  }),
  row({
    key: 'addresses.mails_per_hour',
    env: 'SERVICE_ADDRESSES_MAILS_PER_HOUR',
    type: integer(1, 1_000),
    default: 5,
    sentence: 'How many mails with a link one user can trigger in an hour; one address gets at most twice as many.',
  }),

  row({
    key: 'oidc.providers',
    env: 'SERVICE_OIDC_PROVIDERS',
    type: oidcProviders,
    default: [],
    sentence:
      'OpenID Connect providers for signing in, one table [[oidc.providers]] each; a JSON list in the environment. See docs/single-sign-on.md.',
  }),
  row({
    key: 'oidc.allowed_hosts',
    env: 'SERVICE_OIDC_ALLOWED_HOSTS',
    type: peers,
    default: [],
    sentence:
      'Providers in your own network, which can also be reached without TLS; anyone on the network path can then sign in as anyone: "id.lan" (ports 80 and 443) or "id.lan:8080" (that port).',
  }),

  row({
    key: 'ci.actions_url',
    env: 'SERVICE_CI_ACTIONS_URL',
    type: text,
    default: 'https://github.com',
    sentence: 'Where runners find the actions that workflows use: the address of a forge, or "self" for this server.',
  }),
  row({
    key: 'ci.enabled',
    env: 'SERVICE_CI_ENABLED',
    type: boolean,
    default: true,
    sentence: 'Enable CI. When false, no workflow starts; runs in progress continue.',
  }),
  row({
    key: 'ci.token_permissions',
    env: 'SERVICE_CI_TOKEN_PERMISSIONS',
    type: choice('read', 'write'),
    default: 'write',
    sentence:
      "Default permissions of job tokens if neither the workflow nor the repository sets them: write (everything but identity tokens) or read (the repository's contents).",
  }),
  row({
    key: 'ci.max_job_time',
    env: 'SERVICE_CI_MAX_JOB_TIME',
    type: duration('1m', '30d'),
    default: '3h',
    sentence: 'A job that runs longer is stopped.',
  }),
  row({
    key: 'ci.max_wait',
    env: 'SERVICE_CI_MAX_WAIT',
    type: duration('1m', '365d'),
    default: '1d',
    sentence: 'A job that no runner has taken after this time is cancelled.',
  }),
  row({
    key: 'ci.max_unroutable',
    env: 'SERVICE_CI_MAX_UNROUTABLE',
    type: duration('1s', '365d'),
    default: '1h',
    sentence: 'A job with labels that no runner has fails after this time.',
  }),
  row({
    key: 'ci.retry_lost_jobs',
    env: 'SERVICE_CI_RETRY_LOST_JOBS',
    type: boolean,
    default: true,
    sentence: 'Whether a job starts a second time when its runner is lost; jobs that must run only once need "false".',
  }),
  row({
    key: 'ci.max_log_size',
    env: 'SERVICE_CI_MAX_LOG_SIZE',
    type: size('64KiB', '64GiB'),
    default: '256MiB',
    sentence: 'Log lines of a job beyond this size are dropped.',
  }),
  row({
    key: 'ci.run_keep',
    env: 'SERVICE_CI_RUN_KEEP',
    type: duration('1d', '36500d'),
    default: '730d',
    sentence:
      'How long runs are kept, with their jobs and commit statuses; the newest run of each workflow stays. Logs and artifacts go with them, or earlier.',
  }),
  row({
    key: 'ci.log_keep',
    env: 'SERVICE_CI_LOG_KEEP',
    type: duration('1h', '36500d'),
    default: '365d',
    sentence: 'How long logs of jobs are kept.',
  }),
  row({
    key: 'ci.artifact_keep',
    env: 'SERVICE_CI_ARTIFACT_KEEP',
    type: duration('1h', '3650d'),
    default: '90d',
    sentence: 'How long artifacts are kept; a workflow can request less.',
  }),
  row({
    key: 'ci.max_artifact_size',
    env: 'SERVICE_CI_MAX_ARTIFACT_SIZE',
    type: size('1KiB', '1TiB'),
    default: '2GiB',
    sentence: 'Largest artifact.',
  }),
  row({
    key: 'ci.max_run_artifact_size',
    env: 'SERVICE_CI_MAX_RUN_ARTIFACT_SIZE',
    type: size('1KiB', '16TiB'),
    default: '10GiB',
    sentence: 'Largest total size of the artifacts of one run.',
  }),

  row({
    key: 'api.cors_origins',
    env: 'SERVICE_API_CORS_ORIGINS',
    type: origins,
    default: [],
    sentence: 'Origins whose pages can call the API with a token: "https://tool.example.org". Cookies are ignored.',
  }),
  row({
    key: 'api.sudo',
    env: 'SERVICE_API_SUDO',
    type: boolean,
    default: false,
    sentence:
      'Whether an administrator’s token with scope admin can act as another user with the header "Sudo", as in Gitea, with the permissions of that user.',
  }),

  row({
    key: 'webhooks.allowed_hosts',
    env: 'SERVICE_WEBHOOKS_ALLOWED_HOSTS',
    type: peers,
    default: [],
    sentence:
      'Hosts that webhooks can reach in your own network and without TLS; anyone on the network path can then read and change the messages: "ci.lan" (ports 80 and 443) or "ci.lan:8080" (that port).',
  }),
  row({
    key: 'webhooks.max_attempts',
    env: 'SERVICE_WEBHOOKS_MAX_ATTEMPTS',
    type: integer(1, 100),
    default: 8,
    sentence: 'Attempts to send an event to a webhook before it counts as failed.',
  }),
  row({
    key: 'webhooks.dev_allow_insecure',
    env: 'SERVICE_WEBHOOKS_DEV_ALLOW_INSECURE',
    type: boolean,
    default: false,
    sentence:
      'No longer has an effect: hosts of webhooks.allowed_hosts can use http without it. Refused with a public address.',
  }),

  row({
    key: 'notifications.keep_done_days',
    env: 'SERVICE_NOTIFICATIONS_KEEP_DONE_DAYS',
    type: integer(1, 3650),
    default: 30,
    sentence: 'How many days a notification stays in the list "Done". Saved notifications are kept.',
  }),

  row({
    key: 'objects.store',
    env: 'SERVICE_OBJECTS_STORE',
    type: choice('folder', 's3'),
    default: 'folder',
    sentence:
      'Where attachments, artifacts, complete logs, images, release files and LFS objects are: folder (the data folder) or s3 (a bucket of an S3-compatible store). Read docs/object-store.md before you change it.',
  }),
  row({
    key: 'objects.endpoint',
    env: 'SERVICE_OBJECTS_ENDPOINT',
    type: origin,
    default: null,
    example: 'https://s3.example.org',
    sentence: 'Address of the S3-compatible store.',
  }),
  row({
    key: 'objects.private_endpoint',
    env: 'SERVICE_OBJECTS_PRIVATE_ENDPOINT',
    type: boolean,
    default: false,
    sentence:
      'Allow a store in your own network and http addresses; without TLS, anyone on the network path can read and change files.',
  }),
  row({
    key: 'objects.bucket',
    env: 'SERVICE_OBJECTS_BUCKET',
    type: bucket,
    default: null,
    example: 'hearth',
    sentence: 'Bucket, which must exist.',
  }),
  row({
    key: 'objects.prefix',
    env: 'SERVICE_OBJECTS_PREFIX',
    type: keyPrefix,
    default: null,
    example: 'forge',
    sentence: 'Prefix of every object name, for a bucket that is also used for other things.',
  }),
  row({
    key: 'objects.region',
    env: 'SERVICE_OBJECTS_REGION',
    type: text,
    default: 'us-east-1',
    sentence: 'Region of the bucket; stores on a single machine accept the default.',
  }),
  row({
    key: 'objects.addressing',
    env: 'SERVICE_OBJECTS_ADDRESSING',
    type: choice('path', 'virtual'),
    default: 'path',
    sentence:
      'How the bucket is named: path (https://s3.example.org/bucket) or virtual (https://bucket.s3.example.org).',
  }),
  row({
    key: 'objects.access_key_id',
    env: 'SERVICE_OBJECTS_ACCESS_KEY_ID',
    type: text,
    default: null,
    example: 'the id',
    sentence: 'Access key of the store.',
  }),
  row({
    key: 'objects.secret_access_key',
    env: 'SERVICE_OBJECTS_SECRET_ACCESS_KEY',
    type: text,
    default: null,
    example: 'the secret',
    secret: true,
    sentence: 'Secret of the access key.',
  }),
  row({
    key: 'objects.credentials_file',
    env: 'SERVICE_OBJECTS_CREDENTIALS_FILE',
    type: path,
    default: null,
    example: '/etc/hearth/objects-key',
    sentence:
      'File whose first line is the access key and whose second line is the secret, instead of the two settings; read again each minute.',
  }),
  row({
    key: 'objects.timeout',
    env: 'SERVICE_OBJECTS_TIMEOUT',
    type: duration('1s', '5m'),
    default: '20s',
    sentence: 'How long the store can be silent before a request fails.',
  }),
  row({
    key: 'objects.attempts',
    env: 'SERVICE_OBJECTS_ATTEMPTS',
    type: integer(1, 10),
    default: 4,
    sentence: 'How many times a request is sent if the store does not respond or asks to slow down.',
  }),
  row({
    key: 'objects.connections',
    env: 'SERVICE_OBJECTS_CONNECTIONS',
    type: integer(1, 1000),
    default: 64,
    sentence: 'How many connections to the store can be open at the same time; each download uses one.',
  }),
  row({
    key: 'objects.part_size',
    env: 'SERVICE_OBJECTS_PART_SIZE',
    type: size('5MiB', '5GiB'),
    default: '32MiB',
    sentence: 'Larger objects are sent in parts of this size.',
  }),

  row({
    key: 'mail.host',
    env: 'SERVICE_MAIL_HOST',
    type: host,
    default: null,
    example: 'mail.example.org',
    sentence: 'Mail server that sends the mails of this instance. Without it nothing is mailed. See docs/mail.md.',
  }),
  row({
    key: 'mail.port',
    env: 'SERVICE_MAIL_PORT',
    type: integer(1, 65_535),
    default: null,
    example: 587,
    sentence: 'Port of the mail server. When unset, 587 with starttls, 465 with implicit, 25 with none.',
  }),
  row({
    key: 'mail.tls',
    env: 'SERVICE_MAIL_TLS',
    type: choice('starttls', 'implicit', 'none'),
    default: 'starttls',
    sentence:
      'Encryption of the connection: starttls (required before anything is sent), implicit (from the start) or none (for a mail server on this machine).',
  }),
  row({
    key: 'mail.user',
    env: 'SERVICE_MAIL_USER',
    type: text,
    default: null,
    example: 'hearth@example.org',
    sentence: 'Username at the mail server. When unset, Hearth does not sign in.',
  }),
  row({
    key: 'mail.password',
    env: 'SERVICE_MAIL_PASSWORD',
    type: text,
    default: null,
    example: 'the password',
    secret: true,
    sentence: 'Password at the mail server.',
  }),
  row({
    key: 'mail.password_file',
    env: 'SERVICE_MAIL_PASSWORD_FILE',
    type: path,
    default: null,
    example: '/etc/hearth/mail-password',
    sentence:
      'File whose first line is the password at the mail server, instead of mail.password; read at each connection.',
  }),
  row({
    key: 'mail.from',
    env: 'SERVICE_MAIL_FROM',
    type: mailbox,
    default: null,
    example: 'Hearth <hearth@example.org>',
    sentence: 'Sender of all mails. The mail server must allow it; bounces are sent to it.',
  }),
  row({
    key: 'mail.timeout',
    env: 'SERVICE_MAIL_TIMEOUT',
    type: duration('1s', '4m'),
    default: '30s',
    sentence: 'How long the mail server can take for one mail.',
  }),
  row({
    key: 'mail.connections',
    env: 'SERVICE_MAIL_CONNECTIONS',
    type: integer(1, 20),
    default: 3,
    sentence: 'How many connections to the mail server can be open at the same time.',
  }),
  row({
    key: 'mail.max_attempts',
    env: 'SERVICE_MAIL_MAX_ATTEMPTS',
    type: integer(1, 1_000),
    default: 30,
    sentence: 'Attempts to send a mail before it counts as failed; with 30 that is about a day.',
  }),
  row({
    key: 'mail.max_per_hour',
    env: 'SERVICE_MAIL_MAX_PER_HOUR',
    type: integer(1, 1_000_000),
    default: 1_000,
    sentence: 'How many mails are sent in an hour in total; further ones wait. Mail providers also have such limits.',
  }),
  row({
    key: 'mail.max_per_recipient',
    env: 'SERVICE_MAIL_MAX_PER_RECIPIENT',
    type: integer(1, 100_000),
    default: 60,
    sentence: 'How many mails are sent in an hour to one address; further ones wait.',
  }),

  row({
    key: 'mirrors.allowed_hosts',
    env: 'SERVICE_MIRRORS_ALLOWED_HOSTS',
    type: peers,
    default: [],
    sentence:
      'Hosts that mirrors and imports can reach in your own network, by ssh, and without TLS; anyone on the network path can then read passwords and change code: "git.lan" (ports 22, 80 and 443) or "git.lan:3000" (that port).',
  }),
  row({
    key: 'mirrors.dev_allow_insecure',
    env: 'SERVICE_MIRRORS_DEV_ALLOW_INSECURE',
    type: boolean,
    default: false,
    sentence:
      'No longer has an effect: hosts of mirrors.allowed_hosts can use http without it. Refused with a public address.',
  }),

  row({
    key: 'backup.folder',
    env: 'SERVICE_BACKUP_FOLDER',
    type: path,
    default: { belowDataDir: 'backups' },
    sentence: 'Where backups are stored, preferably on another disk; unchanged files take space only once.',
  }),
  row({
    key: 'backup.nightly',
    env: 'SERVICE_BACKUP_NIGHTLY',
    type: boolean,
    default: true,
    sentence: 'Create a backup every night at 03:30, test its restore, and remove old ones.',
  }),

  row({
    key: 'metrics.token',
    env: 'SERVICE_METRICS_TOKEN',
    type: text,
    default: null,
    example: 'a long random text',
    secret: true,
    sentence: 'Bearer token that can read /metrics from anywhere. Without it, only this machine can.',
  }),

  row({
    key: 'search.code_index_budget',
    env: 'SERVICE_SEARCH_CODE_INDEX_BUDGET',
    type: size('0B', '1TiB'),
    default: '1GiB',
    sentence: 'Disk space for the index of code search across repositories. 0B disables it.',
  }),
  row({
    key: 'search.code_repository_limit',
    env: 'SERVICE_SEARCH_CODE_REPOSITORY_LIMIT',
    type: size('1KiB', '1TiB'),
    default: '64MiB',
    sentence: 'A repository with more text than this is not included in code search across repositories.',
  }),

  row({
    key: 'memory.caches',
    env: 'SERVICE_MEMORY_CACHES',
    type: size('8MiB', '16GiB'),
    default: null,
    example: '24MiB',
    sentence:
      'Memory for caches: pages, results of git, refs, highlighted files. When unset, a 64th of the memory of the machine or its control group, but at least 8MiB and at most 24MiB. A quarter of it is used while memory is short.',
  }),

  row({
    key: 'updates.url',
    env: 'SERVICE_UPDATES_URL',
    type: webAddress,
    default: null,
    example: 'https://git.example.org/repos/hearth/hearth/releases/latest/download',
    sentence:
      'Address of the files of the newest release, for `hearth self-update --check`. Hearth contacts it only when that command runs.',
  }),
  row({
    key: 'updates.signers',
    env: 'SERVICE_UPDATES_SIGNERS',
    type: path,
    default: null,
    example: '/etc/hearth/allowed_signers',
    sentence: 'Public keys accepted for signatures of releases: the file allowed_signers of a release that you trust.',
  }),

  row({
    key: 'log.level',
    env: 'SERVICE_LOG_LEVEL',
    type: choice('debug', 'info', 'warn', 'error'),
    default: 'info',
    sentence: 'Lowest level of log lines that are written: debug, info, warn or error.',
  }),
  row({
    key: 'log.format',
    env: 'SERVICE_LOG_FORMAT',
    type: choice('auto', 'json', 'text'),
    default: 'auto',
    sentence: 'json, text, or auto: readable text on a terminal and JSON lines elsewhere.',
  }),

  row({
    // SPEC §1
    key: 'federation.enabled',
    env: 'SERVICE_FEDERATION_ENABLED',
    type: boolean,
    default: false,
    sentence: 'Master switch for federation.',
  }),
  row({
    // SPEC §1. Any text is accepted: if the base URL is not a public https origin, federation stays off and the server
    // still starts.
    key: 'federation.base_url',
    env: 'SERVICE_FEDERATION_BASE_URL',
    type: text,
    default: null,
    example: 'https://git.example.org',
    sentence: 'Public https origin of this server. All actor ids derive from it and are permanent.',
  }),
  row({
    // SPEC §1
    key: 'federation.peer_allowlist',
    env: 'SERVICE_FEDERATION_PEER_ALLOWLIST',
    type: peers,
    default: [],
    sentence: 'Host names of the servers to federate with. If empty, none is allowed.',
  }),
  row({
    key: 'federation.open_followers',
    env: 'SERVICE_FEDERATION_OPEN_FOLLOWERS',
    type: boolean,
    default: false,
    sentence:
      'Let users of every server that is not blocked follow public repositories, and users and organisations of this one. ' +
      'When false, only servers on the allowlist, and only repositories.',
  }),
  row({
    key: 'federation.open_followers_per_host',
    env: 'SERVICE_FEDERATION_OPEN_FOLLOWERS_PER_HOST',
    type: integer(1, 10_000_000),
    default: 10_000,
    sentence: 'Number of followers that one server not on the allowlist can have here.',
  }),
  row({
    key: 'federation.open_followers_total',
    env: 'SERVICE_FEDERATION_OPEN_FOLLOWERS_TOTAL',
    type: integer(1, 10_000_000),
    default: 100_000,
    sentence: 'Number of followers that all servers not on the allowlist can have here together.',
  }),
  row({
    // SPEC §1
    key: 'federation.max_attempts',
    env: 'SERVICE_FEDERATION_MAX_ATTEMPTS',
    type: integer(1, 1_000),
    default: 8,
    sentence: 'Attempts to deliver an activity before it counts as failed.',
  }),
  row({
    // SPEC §1
    key: 'federation.user_resync_interval',
    env: 'SERVICE_FEDERATION_USER_RESYNC_INTERVAL',
    type: duration('1s', '30d'),
    default: '5m',
    sentence: 'How often followed remote users are checked for new public repositories.',
  }),
  row({
    key: 'federation.copy_max_size',
    env: 'SERVICE_FEDERATION_COPY_MAX_SIZE',
    type: size('0B', '1TiB'),
    default: '5GiB',
    sentence: 'Largest copy of a followed repository, including its Git LFS files. 0B disables copies.',
  }),
  row({
    key: 'federation.copy_user_quota',
    env: 'SERVICE_FEDERATION_COPY_USER_QUOTA',
    type: size('0B', '1TiB'),
    default: '20GiB',
    sentence: 'Largest total size of the copies of one user.',
  }),
  row({
    key: 'federation.copy_total_quota',
    env: 'SERVICE_FEDERATION_COPY_TOTAL_QUOTA',
    type: size('0B', '1TiB'),
    default: '100GiB',
    sentence: 'Largest total size of all copies.',
  }),
  row({
    key: 'federation.copy_grace',
    env: 'SERVICE_FEDERATION_COPY_GRACE',
    type: duration('1m', '3650d'),
    default: '7d',
    sentence: 'How long a copy is kept after its repository is unfollowed.',
  }),
  row({
    // SPEC §1
    key: 'federation.dev_allow_insecure',
    env: 'SERVICE_FEDERATION_DEV_ALLOW_INSECURE',
    type: boolean,
    default: false,
    sentence: 'For development only: allows http and private addresses between peers. Never relaxes the allowlist.',
  }),
] as const;

export type Options = (typeof options)[number];
