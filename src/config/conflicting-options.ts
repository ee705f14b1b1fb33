import { isIP } from 'node:net';
import type { Config } from './config.ts';
import { federationObstacles } from './federation-obstacles.ts';
import { formatAddress } from './option-types.ts';
import type { ListenAddress } from './option-types.ts';

/** A refused combination of options; `key` is the option that the error names. */
interface OptionConflict {
  readonly key: string;
  readonly message: string;
}

/**
 * Finds settings that are valid one by one but contradict each other.
 * @param isChosen whether an option was set at all, rather than left at its default
 */
export function findConflictingOptions(config: Config, isChosen: (key: string) => boolean): OptionConflict[] {
  return [
    ...sharedPorts(config, isChosen),
    ...sharedFolders(config),
    ...insecureInPublic(config),
    ...sessionTimes(config),
    ...noWayIn(config),
    ...incompleteStore(config),
  ];
}

function sharedPorts({ http, ssh, grpc }: Config, isChosen: (key: string) => boolean): OptionConflict[] {
  const servers: [key: string, address: ListenAddress][] = [['http.listen', http.listen]];
  if (ssh.enabled) servers.push(['ssh.listen', ssh.listen]);
  // Few administrators configure gRPC: its default must not reserve a port that they chose for something else.
  if (isChosen('grpc.listen')) servers.push(['grpc.listen', grpc.listen]);
  return servers.flatMap(([key, address], index) =>
    servers
      .slice(0, index)
      .filter(([, earlier]) => clash(earlier, address))
      .map(([other, earlier]) => ({
        key,
        message: `${key} (${formatAddress(address)}) and ${other} (${formatAddress(earlier)}) use the same port; set a different port for each`,
      })),
  );
}

function clash(a: ListenAddress, b: ListenAddress): boolean {
  if (a.port !== b.port || a.port === 0) return false;
  const isAny = ({ host }: ListenAddress): boolean => host === '0.0.0.0' || host === '::';
  return a.host === b.host || isAny(a) || isAny(b);
}

function sharedFolders({ dataDir, storage, repositories }: Config): OptionConflict[] {
  const refusals: OptionConflict[] = [];
  if (storage.root === dataDir)
    refusals.push({ key: 'storage.root', message: 'storage.root must not be the data folder itself' });
  if (repositories.imageRoot === dataDir || repositories.imageRoot === storage.root) {
    refusals.push({ key: 'repositories.image_root', message: 'repositories.image_root must be a separate folder' });
  }
  return refusals;
}

/** A development switch on a public server would open its internal network to others. */
function insecureInPublic({ baseUrl, federation, webhooks, mirrors }: Config): OptionConflict[] {
  const publicUrl = [federation.baseUrl, baseUrl].find((url) => url !== null && isPublicHttps(url));
  if (publicUrl === undefined) return [];
  const switches = Object.entries({ federation, webhooks, mirrors }).filter(
    ([, { devAllowInsecure }]) => devAllowInsecure,
  );
  return switches.map(([section]) => ({
    key: `${section}.dev_allow_insecure`,
    message: `${section}.dev_allow_insecure is for development only and cannot be used with the public address ${publicUrl}`,
  }));
}

function sessionTimes({ sessions }: Config): OptionConflict[] {
  return sessions.idleMs <= sessions.lifetimeMs
    ? []
    : [{ key: 'sessions.idle', message: 'sessions.idle must not be longer than sessions.lifetime' }];
}

/** Without passwords and without a provider, no user could sign in. */
function noWayIn({ accounts, oidc }: Config): OptionConflict[] {
  return accounts.passwordSignIn || oidc.providers.length > 0
    ? []
    : [
        {
          key: 'accounts.password_sign_in',
          message: 'accounts.password_sign_in must stay true while oidc.providers is empty',
        },
      ];
}

/** Files would become inaccessible: the server does not start with half of a store. */
function incompleteStore({ objects }: Config): OptionConflict[] {
  if (objects.store === 'folder') return [];
  const needed = (key: string, what: string): OptionConflict => ({ key, message: `objects.store is s3: set ${what}` });
  const hasKey = objects.accessKeyId !== null && objects.secretAccessKey !== null;
  return [
    ...(objects.endpoint === null ? [needed('objects.endpoint', 'objects.endpoint, the URL of the store')] : []),
    ...(objects.bucket === null ? [needed('objects.bucket', 'objects.bucket')] : []),
    ...(hasKey || objects.credentialsFile !== null
      ? []
      : [
          needed(
            'objects.access_key_id',
            'objects.access_key_id and objects.secret_access_key, or objects.credentials_file',
          ),
        ]),
    ...(objects.endpoint?.startsWith('http:') && !objects.privateEndpoint
      ? [
          {
            key: 'objects.endpoint',
            message:
              'objects.endpoint does not use TLS: use https, or set objects.private_endpoint for a store in your own network',
          },
        ]
      : []),
  ];
}

/** Names that the public DNS never resolves (RFC 6761, RFC 6762, RFC 8375, and common home networks). */
const innerNames = /(^|\.)(localhost|local|internal|test|invalid|example|lan|home|home\.arpa)$/;
const innerAddresses =
  /^(0|10|127)\.|^169\.254\.|^192\.168\.|^172\.(1[6-9]|2\d|3[01])\.|^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.|^::1?$|^f[cd]|^fe[89ab]/;

function isPublicHttps(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' && !isInnerHost(hostname.replace(/^\[|\]$|\.$/g, ''));
}

const isInnerHost = (name: string): boolean =>
  isIP(name) !== 0 ? innerAddresses.test(name) : innerNames.test(name) || !name.includes('.');

/** Settings that are valid but probably unintended; shown by `config check` and at start. */
export function findRisks({ federation, baseUrl, mail, oidc }: Config): string[] {
  const risks: string[] = [];
  for (const { name, issuer } of oidc.providers) {
    if (issuer.startsWith('http:') && !isInnerHost(new URL(issuer).hostname.replace(/^\[|\]$/g, '')))
      risks.push(
        `the connection to the provider ${name} does not use TLS: anyone on the network path can sign in as any user`,
      );
  }
  if (oidc.providers.length > 0 && baseUrl === null)
    risks.push('base_url is not set: providers know this server by a single URL, so users must use that one');
  if (mail.host !== null) {
    if (mail.from === null) risks.push('email is disabled: mail.from is not set');
    if (baseUrl === null) risks.push('email is disabled: base_url is not set, so emails cannot link to this server');
    if (mail.password !== null && mail.passwordFile !== null)
      risks.push('mail.password is ignored because mail.password_file is set');
    if (mail.tls === 'none' && mail.user !== null && !isInnerHost(mail.host))
      risks.push('mail.tls is none: the password and all emails can be read on the network path to the mail server');
  }
  if (federation.enabled) {
    risks.push(...federationObstacles(federation).map((obstacle) => `federation is disabled. ${obstacle}`));
  }
  if (federation.enabled && federation.peerAllowlist.length === 0 && !federation.openFollowers) {
    risks.push('federation.peer_allowlist is empty: only paired servers are allowed');
  }
  if (
    federation.enabled &&
    baseUrl !== null &&
    federation.baseUrl !== null &&
    baseUrl !== federation.baseUrl.replace(/\/$/, '')
  ) {
    risks.push(`base_url (${baseUrl}) and federation.base_url (${federation.baseUrl}) differ`);
  }
  return risks;
}
