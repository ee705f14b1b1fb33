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
    sentence: 'Folder for the database, repositories and all other data.',
  }),
  row({
    key: 'base_url',
    env: 'SERVICE_BASE_URL',
    type: origin,
    default: null,
    example: 'https://git.example.org',
    sentence:
      'Public URL of the web pages. When unset, Hearth derives it from each request and only accepts IP addresses, localhost and local network names (without a dot, or ending in .lan, .local, .home, .internal, .home.arpa or .test).',
  }),

  row({
    key: 'locale',
    env: 'SERVICE_LOCALE',
    type: choice('en', 'de', 'fr'),
    default: 'en',
    sentence:
      'Language of pages and emails for users who have not chosen one and whose browser requests no available language.',
  }),

  row({
    key: 'ca_file',
    env: 'SERVICE_CA_FILE',
    type: path,
    default: null,
    example: '/etc/ssl/private-authority.pem',
    sentence:
      "PEM file of additional certificate authorities for connections to other servers; the system's certificate authorities remain trusted.",
  }),

  row({
    key: 'instance_key_file',
    env: 'SERVICE_INSTANCE_KEY_FILE',
    type: path,
    default: { belowDataDir: 'ci/secret.key' },
    sentence:
      'File of the key that encrypts stored secrets: 32 random bytes, the same on all servers of a database. Hearth creates a missing key file in the data folder, but not in other places.',
  }),

  row({
    key: 'database.url',
    env: 'SERVICE_DATABASE_URL',
    type: text,
    default: null,
    example: 'postgres://hearth@db.example.org/hearth',
    secret: true,
    sentence:
      'URL of a PostgreSQL database, starting with postgres://, to use instead of the SQLite file in the data folder. See docs/postgresql.md.',
  }),
  row({
    key: 'database.pool',
    env: 'SERVICE_DATABASE_POOL',
    type: integer(1, 100),
    default: 8,
    sentence: 'Number of PostgreSQL connections for reads, and of additional connections for concurrent writes.',
  }),

  row({
    key: 'http.listen',
    env: 'SERVICE_HTTP_LISTEN',
    type: listen,
    default: '0.0.0.0:3000',
    sentence: 'Address that serves web pages, the JSON API and git over HTTP. Port 0 selects a free port.',
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
      "Use this machine's own sshd to serve git over SSH; the built-in server then does not start. See docs/installation.md.",
  }),
  row({
    key: 'ssh.listen',
    env: 'SERVICE_SSH_LISTEN',
    type: listen,
    default: '0.0.0.0:2222',
    sentence: 'Address that serves git over SSH. Port 0 selects a free port.',
  }),
  row({
    key: 'ssh.public_host',
    env: 'SERVICE_SSH_PUBLIC_HOST',
    type: host,
    default: null,
    example: 'git.example.org',
    sentence: 'Host name shown in SSH clone URLs. When unset, the host name of the web address.',
  }),
  row({
    key: 'ssh.public_port',
    env: 'SERVICE_SSH_PUBLIC_PORT',
    type: integer(1, 65_535),
    default: null,
    example: 22,
    sentence: 'Port shown in SSH clone URLs. Set it if a container or router exposes a different port.',
  }),

  row({
    key: 'grpc.listen',
    env: 'SERVICE_GRPC_LISTEN',
    type: listen,
    default: '0.0.0.0:3001',
    sentence: 'Address that CI runners connect to over gRPC. Port 0 selects a free port.',
  }),

  row({
    key: 'proxy.trusted',
    env: 'SERVICE_PROXY_TRUSTED',
    type: networks,
    default: ['loopback'],
    sentence:
      'Proxies whose X-Forwarded-* headers are trusted: addresses, networks, "loopback" or "private". If empty, no proxy is trusted.',
  }),
  row({
    key: 'proxy.send_files',
    env: 'SERVICE_PROXY_SEND_FILES',
    type: text,
    default: null,
    example: '/hearth-objects/',
    sentence:
      'Internal nginx location that serves the objects folder of the data folder, so that nginx can send package downloads from it (X-Accel-Redirect). See docs/installation.md.',
  }),

  row({
    key: 'git.program',
    env: 'SERVICE_GIT_PROGRAM',
    type: program,
    default: 'git',
    sentence: 'Git program, version 2.39 or newer: a name to look up in PATH, or a path.',
  }),
  row({
    key: 'git.read_slots',
    env: 'SERVICE_GIT_READ_SLOTS',
    type: integer(1, 1_000),
    default: 8,
    sentence: 'Maximum number of concurrent clones and fetches.',
  }),
  row({
    key: 'git.write_slots',
    env: 'SERVICE_GIT_WRITE_SLOTS',
    type: integer(1, 1_000),
    default: 4,
    sentence: 'Maximum number of concurrent pushes.',
  }),
  row({
    key: 'git.queue',
    env: 'SERVICE_GIT_QUEUE',
    type: integer(0, 100_000),
    default: 128,
    sentence: 'Maximum number of git requests that wait for a slot; further requests are rejected.',
  }),
  row({
    key: 'git.queue_wait',
    env: 'SERVICE_GIT_QUEUE_WAIT',
    type: duration('100ms', '1h'),
    default: '30s',
    sentence: 'Maximum time that a git request waits for a slot.',
  }),
  row({
    key: 'git.max_push_size',
    env: 'SERVICE_GIT_MAX_PUSH_SIZE',
    type: size('1MiB', '1TiB'),
    default: '4GiB',
    sentence: 'Maximum pack size of a push.',
  }),
  row({
    key: 'git.max_push_objects',
    env: 'SERVICE_GIT_MAX_PUSH_OBJECTS',
    type: integer(1_000, 1_000_000_000),
    default: 10_000_000,
    sentence:
      'Maximum number of objects in a push. Each object takes about a hundred bytes of memory while the push is received.',
  }),
  row({
    key: 'git.max_push_memory',
    env: 'SERVICE_GIT_MAX_PUSH_MEMORY',
    type: size('16MiB', '1TiB'),
    default: '128MiB',
    sentence:
      'Largest object that git holds in memory during a push; git can hold two or three at the same time. Files sent whole instead of as deltas can be larger.',
  }),
  row({
    key: 'git.max_push_cpu',
    env: 'SERVICE_GIT_MAX_PUSH_CPU',
    type: duration('1s', '24h'),
    default: '60s',
    sentence: 'CPU time that git can spend on a push, in addition to ten seconds for each MiB.',
  }),
  row({
    key: 'git.read_commit_graph',
    env: 'SERVICE_GIT_READ_COMMIT_GRAPH',
    type: boolean,
    default: true,
    sentence:
      "Use git's commit-graph file to find the last commit of each file in a folder. Otherwise git lists the commits, which is slower.",
  }),

  row({
    key: 'git.storage',
    env: 'SERVICE_GIT_STORAGE',
    type: choice('local', 'store'),
    default: 'local',
    sentence:
      'Where new repositories are stored: local (folders below storage.root) or store (refs in the database, packs in the object store; the folders are caches). See docs/repository-store.md.',
  }),

  row({
    key: 'git.cache',
    env: 'SERVICE_GIT_CACHE',
    type: size('1MiB', '1024TiB'),
    default: null,
    example: '200GiB',
    sentence:
      'Disk space for caches of repositories in the object store; the least recently used are removed first. When unset, 80% of the disk.',
  }),

  row({
    key: 'storage.root',
    env: 'SERVICE_STORAGE_ROOT',
    type: path,
    default: { belowDataDir: 'repositories' },
    sentence: 'Folder for bare git repositories. It must be on the same file system as the data folder.',
  }),
  row({
    key: 'storage.low_disk_floor',
    env: 'SERVICE_STORAGE_LOW_DISK_FLOOR',
    type: size('0B', '1TiB'),
    default: '512MiB',
    sentence: 'Pushes and uploads are refused when less disk space than this is free; reading still works.',
  }),

  row({
    key: 'integrity.every',
    env: 'SERVICE_INTEGRITY_EVERY',
    type: duration('1d', '3650d'),
    default: '30d',
    sentence:
      'Interval at which Hearth reads every object of every repository and every stored file at night and compares it with its checksum.',
  }),
  row({
    key: 'integrity.window',
    env: 'SERVICE_INTEGRITY_WINDOW',
    type: duration('0s', '12h'),
    default: '1h',
    sentence:
      'Maximum duration of these checks per night, starting at 05:30; they continue the next night. 0s disables them.',
  }),

  row({
    key: 'repositories.push_to_create',
    env: 'SERVICE_REPOSITORIES_PUSH_TO_CREATE',
    type: boolean,
    default: false,
    sentence: 'Create a private repository when users push to a repository of their own that does not exist.',
  }),
  row({
    key: 'repositories.max_change',
    env: 'SERVICE_REPOSITORIES_MAX_CHANGE',
    type: size('64KiB', '256MiB'),
    default: '32MiB',
    sentence:
      'Maximum total size of the files in a change made in the browser or through the API; they are held in memory.',
  }),
  row({
    key: 'repositories.image_root',
    env: 'SERVICE_REPO_IMAGE_ROOT',
    type: path,
    default: { belowDataDir: 'repo-images' },
    sentence: 'Folder for repository images, one file per repository.',
  }),
  row({
    key: 'repositories.remote_images',
    env: 'SERVICE_REPOSITORIES_REMOTE_IMAGES',
    type: boolean,
    default: true,
    sentence:
      'Show images from other hosts in documents; this server fetches them, so the hosts never see your readers. When false, images become links.',
  }),
  row({
    key: 'repositories.remote_image_cache',
    env: 'SERVICE_REPOSITORIES_REMOTE_IMAGE_CACHE',
    type: size('16MiB', '1TiB'),
    default: '256MiB',
    sentence: 'Disk space for images fetched from other hosts; the least recently used are removed first.',
  }),
  row({
    key: 'repositories.remote_image_hosts',
    env: 'SERVICE_REPOSITORIES_REMOTE_IMAGE_HOSTS',
    type: peers,
    default: [],
    sentence:
      'Hosts in your own network that images can also be fetched from; anyone who writes a document can request any image from them: "ci.lan" (ports 80 and 443) or "ci.lan:8080" (that port).',
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
    sentence: 'How long a force push or branch deletion can be undone.',
  }),

  row({
    key: 'repositories.push_keep',
    env: 'SERVICE_REPOSITORIES_PUSH_KEEP',
    type: duration('30d', '36500d'),
    default: '730d',
    sentence:
      'How long entries of the push journal, shown on the Activity page, are kept; the last push of each branch and tag is always kept.',
  }),

  row({
    key: 'issues.attachment_size',
    env: 'SERVICE_ISSUES_ATTACHMENT_SIZE',
    type: size('1KiB', '64MiB'),
    default: '10MiB',
    sentence: 'Maximum size of a file attached to an issue or comment.',
  }),
  row({
    key: 'issues.attachment_quota',
    env: 'SERVICE_ISSUES_ATTACHMENT_QUOTA',
    type: size('0B', '1TiB'),
    default: '1GiB',
    sentence: "Maximum total size of all files attached to a repository's issues.",
  }),
  row({
    key: 'issues.person_rate_per_minute',
    env: 'SERVICE_ISSUES_PERSON_RATE_PER_MINUTE',
    type: integer(0, 1_000_000),
    default: 60,
    sentence:
      'Maximum number of issues, comments, reactions, reviews and files that a user can add per minute in all repositories without write access; 0 means no limit. Administrators have no limit.',
  }),
  row({
    key: 'issues.person_rate_per_hour',
    env: 'SERVICE_ISSUES_PERSON_RATE_PER_HOUR',
    type: integer(0, 1_000_000),
    default: 600,
    sentence: 'The same limit per hour.',
  }),
  row({
    key: 'issues.repository_rate_per_minute',
    env: 'SERVICE_ISSUES_REPOSITORY_RATE_PER_MINUTE',
    type: integer(0, 1_000_000),
    default: 120,
    sentence:
      'Maximum number of these that all non-members together can add to a repository per minute; 0 means no limit.',
  }),
  row({
    key: 'issues.repository_rate_per_hour',
    env: 'SERVICE_ISSUES_REPOSITORY_RATE_PER_HOUR',
    type: integer(0, 1_000_000),
    default: 1_200,
    sentence: 'The same limit per hour.',
  }),

  row({
    key: 'releases.file_size',
    env: 'SERVICE_RELEASES_FILE_SIZE',
    type: size('1KiB', '1TiB'),
    default: '2GiB',
    sentence: 'Maximum size of a release file.',
  }),
  row({
    key: 'releases.repository_quota',
    env: 'SERVICE_RELEASES_REPOSITORY_QUOTA',
    type: size('0B', '100TiB'),
    default: '20GiB',
    sentence: 'Maximum total size of all release files in a repository.',
  }),
  row({
    key: 'releases.owner_quota',
    env: 'SERVICE_RELEASES_OWNER_QUOTA',
    type: size('0B', '100TiB'),
    default: '100GiB',
    sentence: 'Maximum total size of all release files owned by a user or organisation.',
  }),

  row({
    key: 'pulls.contributed_push_size',
    env: 'SERVICE_PULLS_CONTRIBUTED_PUSH_SIZE',
    type: size('1MiB', '1TiB'),
    default: '64MiB',
    sentence: 'Maximum size of a pack that a user without write access can push to a pull request.',
  }),
  row({
    key: 'pulls.queue_timeout',
    env: 'SERVICE_PULLS_QUEUE_TIMEOUT',
    type: duration('1m', '7d'),
    default: '2h',
    sentence: 'Maximum duration of the tests for a pull request in a merge queue.',
  }),
  row({
    key: 'pulls.contributed_size',
    env: 'SERVICE_PULLS_CONTRIBUTED_SIZE',
    type: size('1MiB', '1TiB'),
    default: '256MiB',
    sentence: "Maximum total size of a user's rounds in a repository without write access.",
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
    sentence: 'Maximum size of a Git LFS file.',
  }),
  row({
    key: 'lfs.repository_quota',
    env: 'SERVICE_LFS_REPOSITORY_QUOTA',
    type: size('0B', '1024TiB'),
    default: '10GiB',
    sentence: "Maximum total size of a repository's Git LFS files.",
  }),
  row({
    key: 'lfs.owner_quota',
    env: 'SERVICE_LFS_OWNER_QUOTA',
    type: size('0B', '1024TiB'),
    default: '50GiB',
    sentence: 'The same limit for all repositories of a user or organisation.',
  }),
  row({
    key: 'lfs.keep_unreferenced',
    env: 'SERVICE_LFS_KEEP_UNREFERENCED',
    type: duration('1d', '3650d'),
    default: '30d',
    sentence: 'How long a Git LFS file is kept after the last commit that refers to it is gone.',
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
    sentence: 'Maximum size of a package file or image layer.',
  }),
  row({
    key: 'packages.owner_quota',
    env: 'SERVICE_PACKAGES_OWNER_QUOTA',
    type: size('0B', '1024TiB'),
    default: '100GiB',
    sentence: 'Maximum total size of packages owned by a user or organisation; identical content counts once.',
  }),
  row({
    key: 'packages.default_visibility',
    env: 'SERVICE_PACKAGES_DEFAULT_VISIBILITY',
    type: choice('public', 'private'),
    default: 'public',
    sentence:
      'Default visibility of packages without a repository: public (everyone) or private (the owner and members of the organisation).',
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
      'How users register: invite allows invitations only; approval also offers a form at /signup/request, and an administrator approves each request.',
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
    sentence: 'Browser sessions end after this time without a request.',
  }),
  row({
    key: 'sessions.lifetime',
    env: 'SERVICE_SESSIONS_LIFETIME',
    type: duration('1m', '3650d'),
    default: '90d',
    sentence: 'Browser sessions end this long after sign-in, even if in use.',
  }),
  row({
    key: 'sessions.confirm_after',
    env: 'SERVICE_SESSIONS_CONFIRM_AFTER',
    type: duration('1m', '365d'),
    default: '10m',
    sentence:
      'Users must confirm their identity for deletions, transfers and changes to keys, tokens and addresses if they last did so longer ago than this.',
  }),
  row({
    key: 'tokens.max_per_person',
    env: 'SERVICE_TOKENS_MAX_PER_PERSON',
    type: integer(0, 10_000),
    default: 100,
    sentence: 'Maximum number of access tokens per user.',
  }),
  row({
    key: 'keys.max_per_person',
    env: 'SERVICE_KEYS_MAX_PER_PERSON',
    type: integer(0, 10_000),
    default: 50,
    sentence: 'Maximum number of SSH keys per user.',
  }),
  row({
    key: 'keys.max_per_repository',
    env: 'SERVICE_KEYS_MAX_PER_REPOSITORY',
    type: integer(0, 10_000),
    default: 50,
    sentence: 'Maximum number of deploy keys per repository.',
  }),
  row({
    key: 'addresses.max_per_person',
    env: 'SERVICE_ADDRESSES_MAX_PER_PERSON',
    type: integer(0, 1_000),
    default: 20,
    sentence: 'Maximum number of email addresses per user.',
  }),
  row({
    key: 'addresses.mails_per_hour',
    env: 'SERVICE_ADDRESSES_MAILS_PER_HOUR',
    type: integer(1, 1_000),
    default: 5,
    sentence:
      'Maximum number of emails with a link that a user can trigger per hour; an address receives at most twice as many.',
  }),

  row({
    key: 'oidc.providers',
    env: 'SERVICE_OIDC_PROVIDERS',
    type: oidcProviders,
    default: [],
    sentence:
      'OpenID Connect providers for signing in, each as a table [[oidc.providers]]; in the environment variable, a JSON list. See docs/single-sign-on.md.',
  }),
  row({
    key: 'oidc.allowed_hosts',
    env: 'SERVICE_OIDC_ALLOWED_HOSTS',
    type: peers,
    default: [],
    sentence:
      'Providers in your own network, which can also be used without TLS; anyone on the network path can then sign in as any user: "id.lan" (ports 80 and 443) or "id.lan:8080" (that port).',
  }),

  row({
    key: 'ci.actions_url',
    env: 'SERVICE_CI_ACTIONS_URL',
    type: text,
    default: 'https://github.com',
    sentence: 'Where runners fetch actions used in workflows: the URL of a forge, or "self" for this server.',
  }),
  row({
    key: 'ci.enabled',
    env: 'SERVICE_CI_ENABLED',
    type: boolean,
    default: true,
    sentence: 'Enable CI. When false, no workflows start; runs in progress continue.',
  }),
  row({
    key: 'ci.token_permissions',
    env: 'SERVICE_CI_TOKEN_PERMISSIONS',
    type: choice('read', 'write'),
    default: 'write',
    sentence:
      'Default permissions of job tokens if neither the workflow nor the repository sets them: write (everything except identity tokens) or read (repository contents).',
  }),
  row({
    key: 'ci.max_job_time',
    env: 'SERVICE_CI_MAX_JOB_TIME',
    type: duration('1m', '30d'),
    default: '3h',
    sentence: 'Maximum duration of a job before it is stopped.',
  }),
  row({
    key: 'ci.max_wait',
    env: 'SERVICE_CI_MAX_WAIT',
    type: duration('1m', '365d'),
    default: '1d',
    sentence: 'Jobs are cancelled if no runner accepts them within this time.',
  }),
  row({
    key: 'ci.max_unroutable',
    env: 'SERVICE_CI_MAX_UNROUTABLE',
    type: duration('1s', '365d'),
    default: '1h',
    sentence: 'Jobs with labels that no runner has fail after this time.',
  }),
  row({
    key: 'ci.retry_lost_jobs',
    env: 'SERVICE_CI_RETRY_LOST_JOBS',
    type: boolean,
    default: true,
    sentence: 'Whether a job restarts once when its runner is lost; set "false" if jobs must not run twice.',
  }),
  row({
    key: 'ci.max_log_size',
    env: 'SERVICE_CI_MAX_LOG_SIZE',
    type: size('64KiB', '64GiB'),
    default: '256MiB',
    sentence: 'Maximum log size of a job; further lines are dropped.',
  }),
  row({
    key: 'ci.run_keep',
    env: 'SERVICE_CI_RUN_KEEP',
    type: duration('1d', '36500d'),
    default: '730d',
    sentence:
      'How long runs are kept with their jobs and commit statuses; the newest run of each workflow is always kept. Logs and artifacts are removed with them, or earlier.',
  }),
  row({
    key: 'ci.log_keep',
    env: 'SERVICE_CI_LOG_KEEP',
    type: duration('1h', '36500d'),
    default: '365d',
    sentence: 'How long job logs are kept.',
  }),
  row({
    key: 'ci.artifact_keep',
    env: 'SERVICE_CI_ARTIFACT_KEEP',
    type: duration('1h', '3650d'),
    default: '90d',
    sentence: 'How long artifacts are kept; workflows can request a shorter time.',
  }),
  row({
    key: 'ci.max_artifact_size',
    env: 'SERVICE_CI_MAX_ARTIFACT_SIZE',
    type: size('1KiB', '1TiB'),
    default: '2GiB',
    sentence: 'Maximum size of an artifact.',
  }),
  row({
    key: 'ci.max_run_artifact_size',
    env: 'SERVICE_CI_MAX_RUN_ARTIFACT_SIZE',
    type: size('1KiB', '16TiB'),
    default: '10GiB',
    sentence: "Maximum total size of a run's artifacts.",
  }),

  row({
    key: 'api.cors_origins',
    env: 'SERVICE_API_CORS_ORIGINS',
    type: origins,
    default: [],
    sentence:
      'Origins whose pages can call the API with a token, such as "https://tool.example.org". Cookies are ignored.',
  }),
  row({
    key: 'api.sudo',
    env: 'SERVICE_API_SUDO',
    type: boolean,
    default: false,
    sentence:
      'Whether an administrator’s token with the scope admin can act as another user through the "Sudo" header, as in Gitea, with that user\'s permissions.',
  }),

  row({
    key: 'webhooks.allowed_hosts',
    env: 'SERVICE_WEBHOOKS_ALLOWED_HOSTS',
    type: peers,
    default: [],
    sentence:
      'Hosts in your own network that webhooks can reach, also without TLS; anyone on the network path can then read and change the messages: "ci.lan" (ports 80 and 443) or "ci.lan:8080" (that port).',
  }),
  row({
    key: 'webhooks.max_attempts',
    env: 'SERVICE_WEBHOOKS_MAX_ATTEMPTS',
    type: integer(1, 100),
    default: 8,
    sentence: 'Number of attempts to send an event to a webhook before it fails.',
  }),
  row({
    key: 'webhooks.dev_allow_insecure',
    env: 'SERVICE_WEBHOOKS_DEV_ALLOW_INSECURE',
    type: boolean,
    default: false,
    sentence:
      'Deprecated and without effect: hosts in webhooks.allowed_hosts can use http without it. Refused with a public address.',
  }),

  row({
    key: 'notifications.keep_done_days',
    env: 'SERVICE_NOTIFICATIONS_KEEP_DONE_DAYS',
    type: integer(1, 3650),
    default: 30,
    sentence: 'Number of days that notifications stay in the list "Done". Saved notifications are kept.',
  }),

  row({
    key: 'objects.store',
    env: 'SERVICE_OBJECTS_STORE',
    type: choice('folder', 's3'),
    default: 'folder',
    sentence:
      'Where attachments, artifacts, complete logs, images, release files and LFS objects are stored: folder (the data folder) or s3 (a bucket of an S3-compatible store). Read docs/object-store.md before you change this setting.',
  }),
  row({
    key: 'objects.endpoint',
    env: 'SERVICE_OBJECTS_ENDPOINT',
    type: origin,
    default: null,
    example: 'https://s3.example.org',
    sentence: 'URL of the S3-compatible store.',
  }),
  row({
    key: 'objects.private_endpoint',
    env: 'SERVICE_OBJECTS_PRIVATE_ENDPOINT',
    type: boolean,
    default: false,
    sentence:
      'Allow a store in your own network and http URLs; without TLS, anyone on the network path can read and change files.',
  }),
  row({
    key: 'objects.bucket',
    env: 'SERVICE_OBJECTS_BUCKET',
    type: bucket,
    default: null,
    example: 'hearth',
    sentence: 'Name of the bucket, which must exist.',
  }),
  row({
    key: 'objects.prefix',
    env: 'SERVICE_OBJECTS_PREFIX',
    type: keyPrefix,
    default: null,
    example: 'forge',
    sentence: 'Prefix of all object names, for a bucket that has other uses.',
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
      'How the bucket is addressed: path (https://s3.example.org/bucket) or virtual (https://bucket.s3.example.org).',
  }),
  row({
    key: 'objects.access_key_id',
    env: 'SERVICE_OBJECTS_ACCESS_KEY_ID',
    type: text,
    default: null,
    example: 'the id',
    sentence: 'Access key for the store.',
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
      'File with the access key on the first line and the secret on the second, instead of the two settings; read again every minute.',
  }),
  row({
    key: 'objects.timeout',
    env: 'SERVICE_OBJECTS_TIMEOUT',
    type: duration('1s', '5m'),
    default: '20s',
    sentence: 'Requests fail if the store sends no data for this long.',
  }),
  row({
    key: 'objects.attempts',
    env: 'SERVICE_OBJECTS_ATTEMPTS',
    type: integer(1, 10),
    default: 4,
    sentence: 'How many times a request is sent if the store does not respond or asks Hearth to slow down.',
  }),
  row({
    key: 'objects.connections',
    env: 'SERVICE_OBJECTS_CONNECTIONS',
    type: integer(1, 1000),
    default: 64,
    sentence: 'Maximum number of concurrent connections to the store; each download uses one.',
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
    sentence:
      "Mail server that sends this instance's emails. Without it, Hearth does not send emails. See docs/mail.md.",
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
      'Encryption of the connection: starttls (required before any data is sent), implicit (from the start) or none (for a mail server on this machine).',
  }),
  row({
    key: 'mail.user',
    env: 'SERVICE_MAIL_USER',
    type: text,
    default: null,
    example: 'hearth@example.org',
    sentence: 'Username for the mail server. When unset, Hearth does not sign in.',
  }),
  row({
    key: 'mail.password',
    env: 'SERVICE_MAIL_PASSWORD',
    type: text,
    default: null,
    example: 'the password',
    secret: true,
    sentence: 'Password for the mail server.',
  }),
  row({
    key: 'mail.password_file',
    env: 'SERVICE_MAIL_PASSWORD_FILE',
    type: path,
    default: null,
    example: '/etc/hearth/mail-password',
    sentence:
      'File with the password for the mail server on its first line, instead of mail.password; read for every connection.',
  }),
  row({
    key: 'mail.from',
    env: 'SERVICE_MAIL_FROM',
    type: mailbox,
    default: null,
    example: 'Hearth <hearth@example.org>',
    sentence: 'Sender address of all emails. The mail server must allow it; it also receives bounces.',
  }),
  row({
    key: 'mail.timeout',
    env: 'SERVICE_MAIL_TIMEOUT',
    type: duration('1s', '4m'),
    default: '30s',
    sentence: 'Maximum time for the mail server to accept an email.',
  }),
  row({
    key: 'mail.connections',
    env: 'SERVICE_MAIL_CONNECTIONS',
    type: integer(1, 20),
    default: 3,
    sentence: 'Maximum number of concurrent connections to the mail server.',
  }),
  row({
    key: 'mail.max_attempts',
    env: 'SERVICE_MAIL_MAX_ATTEMPTS',
    type: integer(1, 1_000),
    default: 30,
    sentence: 'Number of attempts to send an email before it fails; 30 attempts take about a day.',
  }),
  row({
    key: 'mail.max_per_hour',
    env: 'SERVICE_MAIL_MAX_PER_HOUR',
    type: integer(1, 1_000_000),
    default: 1_000,
    sentence:
      'Maximum number of emails sent per hour in total; further emails wait. Email providers also have such limits.',
  }),
  row({
    key: 'mail.max_per_recipient',
    env: 'SERVICE_MAIL_MAX_PER_RECIPIENT',
    type: integer(1, 100_000),
    default: 60,
    sentence: 'Maximum number of emails sent to an address per hour; further emails wait.',
  }),

  row({
    key: 'mirrors.allowed_hosts',
    env: 'SERVICE_MIRRORS_ALLOWED_HOSTS',
    type: peers,
    default: [],
    sentence:
      'Hosts in your own network that mirrors and imports can reach, also over SSH and without TLS; anyone on the network path can then read passwords and change code: "git.lan" (ports 22, 80 and 443) or "git.lan:3000" (that port).',
  }),
  row({
    key: 'mirrors.dev_allow_insecure',
    env: 'SERVICE_MIRRORS_DEV_ALLOW_INSECURE',
    type: boolean,
    default: false,
    sentence:
      'Deprecated and without effect: hosts in mirrors.allowed_hosts can use http without it. Refused with a public address.',
  }),

  row({
    key: 'backup.folder',
    env: 'SERVICE_BACKUP_FOLDER',
    type: path,
    default: { belowDataDir: 'backups' },
    sentence: 'Folder for backups, preferably on another disk; unchanged files take up space only once.',
  }),
  row({
    key: 'backup.nightly',
    env: 'SERVICE_BACKUP_NIGHTLY',
    type: boolean,
    default: true,
    sentence: 'Create a backup every night at 03:30, test restoring it, and remove old backups.',
  }),

  row({
    key: 'metrics.token',
    env: 'SERVICE_METRICS_TOKEN',
    type: text,
    default: null,
    example: 'a long random text',
    secret: true,
    sentence: 'Bearer token that gives access to /metrics from anywhere. Without it, only this machine has access.',
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
    sentence: 'Repositories with more text than this are not included in code search across repositories.',
  }),

  row({
    key: 'memory.caches',
    env: 'SERVICE_MEMORY_CACHES',
    type: size('8MiB', '16GiB'),
    default: null,
    example: '24MiB',
    sentence:
      'Memory for caches of pages, git results, refs and highlighted files. When unset, 1/64 of the memory of the machine or its control group, but at least 8MiB and at most 24MiB. When memory is low, Hearth uses a quarter of it.',
  }),

  row({
    key: 'updates.url',
    env: 'SERVICE_UPDATES_URL',
    type: webAddress,
    default: null,
    example: 'https://git.example.org/repos/hearth/hearth/releases/latest/download',
    sentence:
      "URL of the newest release's files, for `hearth self-update --check`. Hearth only contacts it when that command runs.",
  }),
  row({
    key: 'updates.signers',
    env: 'SERVICE_UPDATES_SIGNERS',
    type: path,
    default: null,
    example: '/etc/hearth/allowed_signers',
    sentence: 'Public keys accepted for release signatures: the allowed_signers file from a release that you trust.',
  }),

  row({
    key: 'log.level',
    env: 'SERVICE_LOG_LEVEL',
    type: choice('debug', 'info', 'warn', 'error'),
    default: 'info',
    sentence: 'Lowest level of log lines to write: debug, info, warn or error.',
  }),
  row({
    key: 'log.format',
    env: 'SERVICE_LOG_FORMAT',
    type: choice('auto', 'json', 'text'),
    default: 'auto',
    sentence: 'Log format: json, text, or auto (readable text on a terminal, otherwise JSON lines).',
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
    sentence: 'Public https origin of this server. All actor ids are derived from it and are permanent.',
  }),
  row({
    // SPEC §1
    key: 'federation.peer_allowlist',
    env: 'SERVICE_FEDERATION_PEER_ALLOWLIST',
    type: peers,
    default: [],
    sentence: 'Host names of the servers to federate with. If empty, no servers are allowed.',
  }),
  row({
    key: 'federation.open_followers',
    env: 'SERVICE_FEDERATION_OPEN_FOLLOWERS',
    type: boolean,
    default: false,
    sentence:
      'Let users on every server that is not blocked follow public repositories, and users and organisations on this server. ' +
      'When false, only servers on the allowlist, and only repositories.',
  }),
  row({
    key: 'federation.open_followers_per_host',
    env: 'SERVICE_FEDERATION_OPEN_FOLLOWERS_PER_HOST',
    type: integer(1, 10_000_000),
    default: 10_000,
    sentence: 'Maximum number of followers from each server that is not on the allowlist.',
  }),
  row({
    key: 'federation.open_followers_total',
    env: 'SERVICE_FEDERATION_OPEN_FOLLOWERS_TOTAL',
    type: integer(1, 10_000_000),
    default: 100_000,
    sentence: 'Maximum total number of followers from all servers that are not on the allowlist.',
  }),
  row({
    // SPEC §1
    key: 'federation.max_attempts',
    env: 'SERVICE_FEDERATION_MAX_ATTEMPTS',
    type: integer(1, 1_000),
    default: 8,
    sentence: 'Number of attempts to deliver an activity before it fails.',
  }),
  row({
    // SPEC §1
    key: 'federation.user_resync_interval',
    env: 'SERVICE_FEDERATION_USER_RESYNC_INTERVAL',
    type: duration('1s', '30d'),
    default: '5m',
    sentence: 'Interval at which Hearth checks followed remote users for new public repositories.',
  }),
  row({
    key: 'federation.copy_max_size',
    env: 'SERVICE_FEDERATION_COPY_MAX_SIZE',
    type: size('0B', '1TiB'),
    default: '5GiB',
    sentence: 'Maximum size of a copy of a followed repository, including its Git LFS files. 0B disables copies.',
  }),
  row({
    key: 'federation.copy_user_quota',
    env: 'SERVICE_FEDERATION_COPY_USER_QUOTA',
    type: size('0B', '1TiB'),
    default: '20GiB',
    sentence: "Maximum total size of a user's copies.",
  }),
  row({
    key: 'federation.copy_total_quota',
    env: 'SERVICE_FEDERATION_COPY_TOTAL_QUOTA',
    type: size('0B', '1TiB'),
    default: '100GiB',
    sentence: 'Maximum total size of all copies.',
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
    sentence: 'For development only: allow http and private addresses between peers. The allowlist still applies.',
  }),
] as const;

export type Options = (typeof options)[number];
