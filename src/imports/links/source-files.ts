import type { SourceKind } from '../schema/source-kind.ts';
import type { SourceFile } from '../sources/source.ts';
import type { LinkSource } from './parse-source-link.ts';

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const name = String.raw`[^\s<>"'()\[\]\\/?#]{1,255}`;

/** Addresses of attached files in texts, by the forge. */
const patterns: Readonly<Record<SourceKind, RegExp>> = {
  gitea: new RegExp(`(?:https?://[\\w.:-]{1,250}/[\\w./-]{0,250}?)?/?attachments/${uuid}(?![0-9a-f-])`, 'g'),
  gitlab: new RegExp(`(?:https?://[\\w.:-]{1,250}/[\\w./-]{0,250}?)?/?uploads/[0-9a-f]{32}/${name}`, 'g'),
  github: new RegExp(
    `https://(?:github\\.com/(?:user-attachments/assets/${uuid}|user-attachments/files/\\d{1,19}/${name}|` +
      `[\\w.-]{1,100}/[\\w.-]{1,100}/(?:assets/\\d{1,19}/${uuid}|files/\\d{1,19}/${name}))|` +
      `user-images\\.githubusercontent\\.com/\\d{1,19}/${name})`,
    'g',
  ),
};

/** Files that one text shows; more are cut. */
const mostPerText = 100;

/**
 * The attached files that a text there names, each once. Addresses of other servers are none, so that no text makes
 * this server fetch from elsewhere.
 */
export function filesIn(source: LinkSource, text: string): SourceFile[] {
  if (!/attachments|uploads|github/.test(text)) return [];
  const found = new Map<string, SourceFile>();
  for (const [address] of text.matchAll(patterns[source.kind])) {
    const file = fileAt(source, address);
    if (file !== null && !found.has(file.key)) found.set(file.key, file);
    if (found.size === mostPerText) break;
  }
  return [...found.values()];
}

/** The attached file that an address of a text names, whole or relative; null for any other address. */
export function fileAt({ kind, url: home }: LinkSource, address: string): SourceFile | null {
  if (address.length > 2_000) return null;
  if (kind === 'github') {
    const [whole] = new RegExp(`^${patterns.github.source}`).exec(address) ?? [];
    return whole === undefined ? null : { key: whole, name: nameOf(whole) };
  }
  const own = new URL(home);
  const url = URL.parse(address, `${home}/`);
  if (url === null || url.host !== own.host || !/^https?:$/.test(url.protocol)) return null;
  const end = kind === 'gitea' ? `attachments/(?<id>${uuid})` : 'uploads/(?<id>[0-9a-f]{32})/(?<name>[^/]{1,255})';
  const { id, name: last = '' } = new RegExp(`/${end}$`).exec(url.pathname)?.groups ?? {};
  if (id === undefined) return null;
  return kind === 'gitea' ? { key: `attachments/${id}`, name: '' } : { key: `uploads/${id}`, name: nameOf(last) };
}

/**
 * Where the content of a file is, the likeliest first.
 * @param name as its address in the text has it; GitLab wants it
 */
export function addressesOf(
  { kind, url, project, api }: LinkSource & { api: string },
  key: string,
  name: string,
): string[] {
  if (kind === 'github') return [key];
  if (kind === 'gitea') return [`${url.split('/').slice(0, -project.split('/').length).join('/')}/${key}`];
  const file = `${key}/${encodeURIComponent(name)}`;
  return [`${api}/projects/${encodeURIComponent(project)}/${file}`, `${url}/${file}`];
}

function nameOf(address: string): string {
  const last = address.split('/').at(-1)!;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
