import { isIP, isIPv6 } from 'node:net';

/** Address of a listener. With port 0 the system chooses a free port. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Syntax and parser of one kind of option. `Value` is the type in the program. `Suffix` is the unit at the end of the
 * field name in `Config`: `queue_wait = "30s"` becomes `queueWaitMs`.
 */
export interface OptionType<Value, Suffix extends string = ''> {
  /** The expected form; completes the sentence "must be …". */
  readonly expects: string;
  readonly suffix: Suffix;
  /** Checks and converts a value of the TOML file; undefined if it is invalid. */
  read(raw: unknown): Value | undefined;
  /** Converts text from the environment or a flag to that form. */
  fromText(text: string): unknown;
  /** The shortest text that parses as `value`. */
  toText(value: Value): string;
  /** Relative values are resolved against the folder of the settings file, else against the working folder. */
  readonly isPath?: true;
  /** Empty text is a value (an empty list) instead of "not set". */
  readonly mayBeEmpty?: true;
  /** The error for a value that `read` refused, if its parts have rules of their own; never contains a secret. */
  explain?(raw: unknown): string;
}

const asIs = (text: string): unknown => text;

/** A string type that is parsed by `read`, which returns undefined for invalid text. */
function written<Value, Suffix extends string>(
  expects: string,
  suffix: Suffix,
  read: (text: string) => Value | undefined,
  toText: (value: Value) => string,
): OptionType<Value, Suffix> {
  return {
    expects,
    suffix,
    read: (raw) => (typeof raw === 'string' ? read(raw.trim()) : undefined),
    fromText: asIs,
    toText,
  };
}

const truth = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

export const boolean: OptionType<boolean> = {
  expects: 'true or false',
  suffix: '',
  read: (raw) => (typeof raw === 'boolean' ? raw : undefined),
  fromText: (text) => truth.get(text.trim().toLowerCase()) ?? text,
  toText: String,
};

export function integer(min: number, max: number): OptionType<number> {
  return {
    expects: `a whole number from ${min} to ${max}`,
    suffix: '',
    read: (raw) => (typeof raw === 'number' && Number.isSafeInteger(raw) && raw >= min && raw <= max ? raw : undefined),
    fromText: (text) => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : text),
    toText: String,
  };
}

export function choice<const Word extends string>(...words: Word[]): OptionType<Word> {
  return {
    expects: words.slice(0, -1).join(', ') + ' or ' + words.at(-1),
    suffix: '',
    read: (raw) => words.find((word) => word === raw),
    fromText: (text) => text.trim().toLowerCase(),
    toText: String,
  };
}

const notBlank = (text: string): string | undefined => (text === '' || text.includes('\0') ? undefined : text);

export const path: OptionType<string> = { ...written('a path', '', notBlank, String), isPath: true };

export const program: OptionType<string> = written('the name or path of a program', '', notBlank, String);

/** Text that its module validates; here it only has to be present. */
export const text: OptionType<string> = written('text', '', notBlank, String);

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;

export const host: OptionType<string> = written(
  'a host name or address without scheme and port',
  '',
  (text) => (hostName.test(text) || isIP(text) !== 0 ? text : undefined),
  String,
);

/**
 * Names that every S3-compatible store accepts; without dots, because wildcard certificates do not cover them in host
 * names.
 */
export const bucket: OptionType<string> = written(
  'a bucket name: 3 to 63 lowercase letters, digits and hyphens',
  '',
  (text) => (/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(text) ? text : undefined),
  String,
);

/** Segments joined by slashes, without one at either end. */
export const keyPrefix: OptionType<string> = written(
  'letters, digits, dots, hyphens, underscores and slashes, for example forge/objects',
  '',
  (text) =>
    /^[\w-][\w.-]*(\/[\w-][\w.-]*)*\/?$/.test(text) && text.length <= 200 ? text.replace(/\/$/, '') : undefined,
  String,
);

function readAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, v6, name, digits] = match;
  const port = Number(digits);
  if (port > 65_535) return undefined;
  if (v6 !== undefined) return isIPv6(v6) ? { host: v6, port } : undefined;
  if (name === undefined || !hostName.test(name)) return undefined;
  // Digits and dots that are not an address: a typing error that only DNS would find later.
  if (/^[\d.]+$/.test(name) && isIP(name) === 0) return undefined;
  return { host: name, port };
}

/** `host:port` as in URLs, with an IPv6 host in brackets. */
export function formatAddress({ host, port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

export const listen: OptionType<ListenAddress> = written(
  'host:port, for example 0.0.0.0:3000, [::]:3000 or 127.0.0.1:0',
  '',
  readAddress,
  formatAddress,
);

/**
 * A web origin: scheme, host and optional port. Actor ids are permanent and absolute (SPEC §9), so serving below a path
 * is not supported.
 */
function readOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const bare =
    url.pathname === '/' && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
  const web = url.protocol === 'https:' || url.protocol === 'http:';
  return web && bare && !/[?#@\\\s]/.test(text) ? url.origin : undefined;
}

export const origin: OptionType<string> = written(
  'http:// or https:// with a host and an optional port, but no path, for example https://git.example.org',
  '',
  readOrigin,
  String,
);

export const webAddress: OptionType<string> = written(
  'a URL that starts with http:// or https:// and contains no name or password',
  '',
  (text) => {
    const url = URL.parse(text);
    const isWeb = url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '';
    return isWeb && url.username === '' && url.password === '' ? text : undefined;
  },
  String,
);

const durations = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;
const sizes = [
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['B', 1],
] as const;
const decimalSizes = [
  ['kB', 1e3],
  ['KB', 1e3],
  ['MB', 1e6],
  ['GB', 1e9],
  ['TB', 1e12],
] as const;

type Units = readonly (readonly [name: string, factor: number])[];

/** The sum of `1h30m`; undefined unless the whole text is numbers with known units. */
function readQuantity(text: string, units: Units): number | undefined {
  const factors = new Map(units);
  if (!/^(\d{1,15}[A-Za-z]+)+$/.test(text)) return undefined;
  let total = 0;
  for (const [, digits, unit] of text.matchAll(/(\d+)([A-Za-z]+)/g)) {
    const factor = factors.get(unit ?? '');
    if (factor === undefined) return undefined;
    total += Number(digits) * factor;
  }
  return Number.isSafeInteger(total) ? total : undefined;
}

/** Milliseconds of a duration such as `90s`, `1h30m` or `14d`; undefined for anything else. */
export function readDuration(text: string): number | undefined {
  return readQuantity(text.trim(), durations);
}

/** Written in the largest unit that divides `value`. */
function writeQuantity(value: number, units: Units): string {
  const [name, factor] = units.find(([, factor]) => value !== 0 && value % factor === 0) ?? units.at(-1)!;
  return `${value / factor}${name}`;
}

const within = (min: number, max: number) => (value: number | undefined) =>
  value !== undefined && value >= min && value <= max ? value : undefined;

/** @param min @param max the shortest and longest allowed duration, as text. */
export function duration(min: string, max: string): OptionType<number, 'Ms'> {
  const inRange = within(readDuration(min)!, readDuration(max)!);
  return written(
    `a duration from ${min} to ${max}, for example 90s, 5m or 1h30m`,
    'Ms',
    (text) => inRange(readDuration(text)),
    (value) => writeQuantity(value, durations),
  );
}

/** @param min @param max the smallest and largest allowed size, as text. */
export function size(min: string, max: string): OptionType<number, 'Bytes'> {
  const units = [...sizes, ...decimalSizes];
  const inRange = within(readQuantity(min, units)!, readQuantity(max, units)!);
  return written(
    `a size from ${min} to ${max}, for example 512MiB or 2GB`,
    'Bytes',
    (text) => inRange(readQuantity(text, units)),
    (value) => writeQuantity(value, sizes),
  );
}

/** A list whose entries are parsed by `read`; text is split at commas. */
function list(expects: string, read: (entry: string) => string | undefined): OptionType<readonly string[]> {
  const entry = written(expects, '', read, String);
  return {
    expects,
    suffix: '',
    read(raw) {
      const entries = Array.isArray(raw) ? raw.map(entry.read) : [undefined];
      return entries.every((each) => each !== undefined) ? entries : undefined;
    },
    fromText: (text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    toText: (value) => value.join(', '),
    mayBeEmpty: true,
  };
}

function readNetwork(entry: string): string | undefined {
  if (entry === 'loopback' || entry === 'private') return entry;
  const [address = '', bits, more] = entry.split('/');
  const family = isIP(address);
  if (family === 0 || more !== undefined) return undefined;
  if (bits === undefined) return entry;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128) ? entry : undefined;
}

export const networks: OptionType<readonly string[]> = list(
  'a list containing loopback, private, or addresses and networks such as 10.0.0.0/8',
  readNetwork,
);

/** Allowlist entries are compared without regard to case (SPEC §5), so they are lower-cased once, here. */
function readPeer(entry: string): string | undefined {
  const bracketed = /^\[([^\]]+)\](:\d{1,5})?$/.exec(entry);
  if (bracketed !== null) return isIPv6(bracketed[1]!) ? entry.toLowerCase() : undefined;
  const [name = '', port, more] = entry.split(':');
  if (!hostName.test(name) || more !== undefined) return undefined;
  return port === undefined || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) ? entry.toLowerCase() : undefined;
}

export const peers: OptionType<readonly string[]> = list(
  'a list of host names with optional ports, such as forge.example.org',
  readPeer,
);

/** Web origins. */
export const origins: OptionType<readonly string[]> = list(
  'a list of origins such as https://tool.example.org',
  readOrigin,
);

/** A sender: an address, optionally with a display name. */
export interface Mailbox {
  readonly name: string | null;
  readonly address: string;
}

const localPart = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64}(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]{1,64})*$/i;

/** RFC 5322 without comments and quoted local parts, which no mailbox of a server needs; the name has no controls. */
function readMailbox(text: string): Mailbox | undefined {
  const [, quoted, bare, inBrackets] = /^(?:(?:"([^"\\]*)"|([^"<>@]*?))\s*<([^<>]+)>)$/.exec(text) ?? [];
  const address = inBrackets ?? text;
  const at = address.lastIndexOf('@');
  if (!localPart.test(address.slice(0, at)) || at > 64 || !hostName.test(address.slice(at + 1))) return undefined;
  const name = (quoted ?? bare ?? '').trim();
  if (/[\p{Cc}\p{Cf}\u2028\u2029]/u.test(name) || name.length > 100) return undefined;
  return { name: name === '' ? null : name, address };
}

export const mailbox: OptionType<Mailbox> = written(
  'an email address with an optional name, for example Hearth <hearth@example.org>',
  '',
  readMailbox,
  ({ name, address }) => (name === null ? address : `${name} <${address}>`),
);
