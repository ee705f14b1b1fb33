import { allows } from '../../access/index.ts';
import type { Viewer } from '../../access/index.ts';
import { highlightBlocks, languageOf } from '../../highlighting/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { WebDeps } from '../../web/index.ts';
import { isRefusal } from '../../kernel/index.ts';
import type { Found } from '../../repositories/index.ts';
import { dependOn } from '../app/dependency.ts';
import type { Dependency } from '../app/dependency.ts';
import { codeUrl } from '../app/code-urls.ts';
import { viewName } from '../app/printable-names.ts';
import { lineHtml, showInvisibleCharacters } from '../app/code-html.ts';
import { decodeFileText } from '../app/decode-text.ts';
import { escapeAttribute, escapeText, unescapeHtml } from './placeholders.ts';

/** The modules that excerpts use. */
type ExcerptDeps = Pick<WebDeps, 'repositories' | 'git' | 'workers'>;

/** Maximum number of excerpts on a page, and of lines in one; the rest stay links. */
const limits = { excerpts: 10, lines: 40, fileBytes: 1024 * 1024 };

/** A paragraph that contains only a link, in the sanitiser's output. */
const loneLink = /<p><a href="([^"<>]{1,1000})" rel="nofollow ugc noopener">([^<>]{1,1000})<\/a><\/p>/g;

/** Whether the text of a link is its URL: Markdown shows it without percent-encoding. */
function isAddress(href: string, text: string): boolean {
  if (href === text) return true;
  try {
    return decodeURI(href) === decodeURI(text);
  } catch {
    return false;
  }
}

/** URL of lines of a file at a commit: of this server, and in the form of GitHub and Gitea. */
const address =
  /^\/(?:repos\/)?([^/]{1,100})\/([^/]{1,100})\/(?:blob|src\/commit)\/([0-9a-f]{40}|[0-9a-f]{64})\/([^?#]{1,800})(?:\?[^#]{0,100})?#L(\d{1,7})(?:-L?(\d{1,7}))?$/;

interface Place {
  owner: string;
  name: string;
  commit: string;
  /** Path of the file, as bytes. */
  path: Buffer;
  first: number;
  last: number;
}

function placeIn(href: string, origin: string): Place | null {
  if (!href.startsWith(`${origin}/`)) return null;
  const [, owner, name, commit, rest, from, to = from] = address.exec(href.slice(origin.length)) ?? [];
  if (rest === undefined) return null;
  const [one, other] = [Number(from), Number(to)];
  try {
    const names = { owner: decodeURIComponent(owner!), name: decodeURIComponent(name!) };
    const path = Buffer.from(decodeURIComponent(rest));
    return { ...names, commit: commit!, path, first: Math.min(one, other), last: Math.max(one, other) };
  } catch {
    return null;
  }
}

interface LineExcerpts {
  /** Replaces URLs that are alone in their paragraph with the lines. */
  fill(html: string): string;
  /** Dependency: read access to a repository may change while the page is cached. */
  dependency: Dependency | null;
}

const none: LineExcerpts = { fill: (html) => html, dependency: null };

/**
 * Reads the lines behind file URLs with a commit that are alone in a paragraph of one of the texts: in repositories
 * that the viewer can read, and commits that they can see there.
 * @param htmls the rendered texts
 * @param origin of this server as the browser knows it
 */
export async function readLineExcerpts(
  { viewer, origin }: { viewer: Viewer; origin: string },
  deps: ExcerptDeps,
  htmls: readonly string[],
): Promise<LineExcerpts> {
  const wanted = new Map<string, Place>();
  for (const html of htmls)
    if (html.includes(`<p><a href="${origin}/`))
      for (const [, href = '', text = ''] of html.matchAll(loneLink)) {
        const place = isAddress(href, text) ? placeIn(unescapeHtml(href), origin) : null;
        if (place !== null && wanted.size < limits.excerpts) wanted.set(href, place);
      }
  if (wanted.size === 0) return none;
  const find = ({ owner, name }: Place): Promise<Found | null> =>
    deps.repositories.find(viewer, owner, name).catch(nullIfRefused);
  const dependency = await dependOn(async () =>
    Promise.all([...wanted.values()].map(async (place) => (await find(place))?.level ?? null)),
  );
  const made = new Map<string, string>();
  for (const [href, place] of wanted) {
    const found = await find(place);
    const html = found === null ? null : await excerptOf(deps, found, place).catch(nullIfRefused);
    if (html !== null) made.set(href, html);
  }
  return {
    fill: (html) =>
      html.replace(loneLink, (whole, href: string, text: string) =>
        isAddress(href, text) ? (made.get(href) ?? whole) : whole,
      ),
    dependency,
  };
}

function nullIfRefused(error: unknown): null {
  if (isRefusal(error)) return null;
  throw error;
}

async function excerptOf({ git, workers }: ExcerptDeps, found: Found, place: Place): Promise<string | null> {
  const rest = Buffer.concat([Buffer.from(`${place.commit}/`), place.path]);
  const at = await git.queries.resolveRefPath(found.path, rest, { includeUnreachable: allows(found.level, 'write') });
  // A branch may have the name of a commit.
  if (at.oid !== place.commit) return null;
  const entry = await git.objects.entryAt(found.path, at.oid, at.file);
  if (entry.type !== 'blob' || entry.kind === 'symlink') return null;
  const { content } = await git.objects.blob(found.path, entry.oid, { maxBytes: limits.fileBytes });
  const text = content === null ? null : decodeFileText(content);
  if (text === null) return null;
  const all = text.text.replace(/\n$/, '').split('\n');
  const last = Math.min(place.last, all.length);
  const shown = all.slice(place.first - 1, Math.min(last, place.first - 1 + limits.lines));
  if (place.first < 1 || shown.length === 0) return null;
  const url = repositoryUrl(found.canonical);
  const language = languageOf(entry.name)?.name.toLowerCase() ?? '';
  const { html } = await highlightBlocks(workers, {
    key: `lines ${entry.oid} ${place.first} ${shown.length}`,
    blocks: [{ language, text: `${shown.join('\n')}\n` }],
    client: url,
  });
  const code = typeof html[0] === 'string' ? showInvisibleCharacters(html[0]) : shown.map(lineHtml).join('\n');
  const numbers = shown.map((_, index) => place.first + index).join('\n');
  const range = place.first === last ? `L${place.first}` : `L${place.first}-L${last}`;
  const href = `${codeUrl(url, 'blob', place.commit, at.file)}?plain=1#${range}`;
  const name = escapeText(viewName(at.file.toString()));
  const where = escapeText(`${found.canonical.owner}/${found.canonical.name}@${place.commit.slice(0, 10)}`);
  const cut =
    last - place.first + 1 > shown.length ? `<p class="quiet"><a href="${escapeAttribute(href)}">…</a></p>` : '';
  return `<div class="line-excerpt"><p><a href="${escapeAttribute(href)}">${name}</a> <span class="quiet">${range.replace('-', '–')}, ${where}</span></p><div class="excerpt-lines"><pre aria-hidden="true">${numbers}</pre><pre tabindex="0"><code>${code}</code></pre></div>${cut}</div>`;
}
