import type { SourceKind } from '../schema/source-kind.ts';
import type { SourceFile } from '../sources/source.ts';
import type { LinkSource } from './parse-source-link.ts';

const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const name = String.raw`[^\s<>"'()\[\]\\/?#]{1,255}`;

/** URLs of attached files in texts, by forge. */
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

/** Limit of files per text; further ones are ignored. */
const mostPerText = 100;

/**
 * The distinct attached files that a text of the source references. URLs of other servers are ignored, so that no text
 * makes this server fetch from elsewhere.
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

/** The attached file of an absolute or relative URL in a text; null for any other URL. */
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
 * Possible URLs of a file's content, most likely first.
 * @param name name in the URL of the text, which GitLab requires
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
