import type { CodeDeps } from './deps.ts';

const maxModulesBytes = 64 * 1024;

/** The `url` of each `path` in `.gitmodules` at a commit; empty if the file cannot be read. */
export async function readModules(
  { objects }: CodeDeps['git'],
  path: string,
  oid: string,
): Promise<ReadonlyMap<string, string>> {
  try {
    const entry = await objects.entryAt(path, oid, '.gitmodules');
    if (entry.kind !== 'file' && entry.kind !== 'executable') return new Map();
    const { content } = await objects.blob(path, entry.oid, { maxBytes: maxModulesBytes });
    return parseModules(content?.toString() ?? '');
  } catch {
    return new Map();
  }
}

/** Git's configuration format, as far as `.gitmodules` uses it; the last value counts. */
export function parseModules(text: string): Map<string, string> {
  const sections = new Map<string, { path?: string; url?: string }>();
  let section: { path?: string; url?: string } | null = null;
  // A backslash at the end of a line continues it on the next one.
  for (const line of text.replace(/(?<!\\)((?:\\\\)*)\\\r?\n/g, '$1').split(/\r?\n/)) {
    const [header = '', quoted, plain] = /^\s*\[submodule(?:\s+"((?:[^"\\]|\\.)*)"|\.([\w.-]+))\]/i.exec(line) ?? [];
    const name = quoted ?? plain?.toLowerCase();
    if (name !== undefined) sections.set(name, (section = sections.get(name) ?? {}));
    else if (/^\s*\[/.test(line)) section = null;
    // The first setting may follow the header on the same line.
    const [, key, value] = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=(.*)$/.exec(line.slice(header.length)) ?? [];
    if (section === null || key === undefined) continue;
    if (/^path$/i.test(key)) section.path = unquote(value!).replace(/\/+$/, '');
    else if (/^url$/i.test(key)) section.url = unquote(value!);
  }
  return new Map([...sections.values()].flatMap(({ path, url }) => (path && url ? [[path, url]] : [])));
}

/** The value without quotes, escapes, a comment and surrounding spaces. */
function unquote(value: string): string {
  let text = '';
  let isQuoted = false;
  let kept = 0;
  const given = value.trimStart();
  for (let at = 0; at < given.length; at += 1) {
    const sign = given[at]!;
    if (sign === '\\') text += { n: '\n', t: '\t' }[given[(at += 1)] ?? ''] ?? given[at] ?? '';
    else if (sign === '"') isQuoted = !isQuoted;
    else if (!isQuoted && (sign === '#' || sign === ';')) break;
    else {
      text += sign;
      if (!isQuoted && /\s/.test(sign)) continue;
    }
    kept = text.length;
  }
  return text.slice(0, kept);
}

interface SubmoduleAddress {
  /** The value in `.gitmodules`. */
  text: string;
  /** Its link: a page of this server, at the commit, or an external URL; null for a URL that browsers cannot open. */
  link: string | null;
  isHere: boolean;
}

interface SubmodulePlace {
  origin: string;
  repository: { owner: string; name: string };
  /** The commit of the submodule. */
  oid: string;
}

/** Hosts whose repositories have the same path over HTTPS and SSH. */
const wellKnownHosts = new Set(['github.com', 'gitlab.com', 'bitbucket.org', 'codeberg.org', 'git.sr.ht']);

/**
 * The web page of a submodule's URL, by git's rules: relative URLs start at the URL of this repository. It reveals
 * nothing about what exists: URLs of this server link to the page, which responds to hidden and absent repositories
 * alike.
 */
export function resolveSubmodule(text: string, { origin, repository, oid }: SubmodulePlace): SubmoduleAddress {
  const nowhere = { text, link: null, isHere: false };
  const absolute = /^\.{1,2}\//.test(text)
    ? resolveRelative(`${origin}/git/${repository.owner}/${repository.name}.git`, text)
    : text;
  const address = absolute === null ? null : parseAddress(absolute);
  if (address === null) return nowhere;
  const { host, isSsh, path, whole } = address;
  const own = new URL(origin);
  if (isSsh ? host.replace(/:\d+$/, '') === own.hostname : host === own.host) {
    const [, owner, name] = /^\/(?:git\/|repos\/)?([\w.-]+)\/([\w.-]+?)(?:\.git)?\/*$/.exec(path) ?? [];
    if (owner !== undefined) return { text, link: `/repos/${owner}/${name}/tree/${oid}`, isHere: true };
  }
  if (!isSsh) return { text, link: whole, isHere: false };
  return wellKnownHosts.has(host) ? { text, link: `https://${host}${path}`, isHere: false } : nowhere;
}

/** Like `git submodule`: each `../` removes one part of the path. */
function resolveRelative(base: string, relative: string): string | null {
  let address = base;
  let rest = relative;
  for (;;) {
    if (rest.startsWith('./')) rest = rest.slice(2);
    else if (rest.startsWith('../')) {
      rest = rest.slice(3);
      const end = address.lastIndexOf('/');
      // Cannot go above the host.
      if (end <= address.indexOf('://') + 2) return null;
      address = address.slice(0, end);
    } else return `${address}/${rest}`.replace(/\/+$/, '');
  }
}

function parseAddress(address: string): { host: string; isSsh: boolean; path: string; whole: string } | null {
  // The scp form: user@host:path.
  const [, scpHost, scpPath] = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)\/?([^\s]+)$/.exec(address) ?? [];
  if (scpHost !== undefined) return { host: scpHost.toLowerCase(), isSsh: true, path: `/${scpPath}`, whole: address };
  if (!/^(?:https?|ssh|git\+ssh):\/\//i.test(address) || !URL.canParse(address)) return null;
  const { protocol, host, pathname, username, password, href } = new URL(address);
  const isSsh = protocol.includes('ssh');
  // A URL that contains a password, or disguises its host, is not linked.
  if (!isSsh && (username !== '' || password !== '')) return null;
  return { host: host.toLowerCase(), isSsh, path: pathname, whole: href };
}
