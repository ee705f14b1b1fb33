import type { Blame, BlameGroup } from '../../git/index.ts';
import { currentLanguage, t } from '../../translation/index.ts';
import { escapeHtml, lineHtml, showInvisibleCharacters } from '../app/code-html.ts';
import { codeUrl } from '../app/code-urls.ts';
import type { CommitAuthors } from './commit-authors.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { decodeFileText } from '../app/decode-text.ts';

interface BlameView {
  /** Rows of a table, escaped. */
  html: string;
  ignoresRevisions: boolean;
}

/** The rows on this page. */
interface ShownRows {
  number: number;
  groups: readonly BlameGroup[];
}

/** Shades, from the newest lines of the file to the oldest. */
const shades = 6;

const textOf = (line: Buffer): string => decodeFileText(line)?.text ?? line.toString('latin1');

/** The other inputs of a blame besides its file. */
interface BlameContext {
  repositoryUrl: string;
  now: number;
  authors: CommitAuthors;
}

/**
 * @param coloured the highlighted lines of the file, or null
 */
export function viewBlame(
  blame: Blame,
  rows: ShownRows,
  coloured: readonly string[] | null,
  context: BlameContext,
): BlameView {
  const { repositoryUrl, now } = context;
  const authors = JSON.stringify(context.authors.dependency.value);
  const language = currentLanguage();
  const known = cachedViews.get(blame);
  const isSameFile =
    known && known.part === rows.number && known.coloured === coloured && known.repositoryUrl === repositoryUrl;
  const isSame = isSameFile && known.authors === authors && known.language === language;
  if (isSame && now - known.at < cacheTtlMs) return known.view;
  const view = renderBlame(blame, rows.groups, coloured, context);
  cachedViews.set(blame, { part: rows.number, coloured, repositoryUrl, authors, language, at: now, view });
  return view;
}

interface CachedView {
  part: number;
  coloured: readonly string[] | null;
  repositoryUrl: string;
  /** The linked authors, as JSON. */
  authors: string;
  /** Language of the times. */
  language: string;
  at: number;
  view: BlameView;
}

/** Maximum age of relative times ("2 days ago"). */
const cacheTtlMs = 60_000;
const cachedViews = new WeakMap<Blame, CachedView>();

function renderBlame(
  { commits, ignoresRevisions }: Blame,
  groups: readonly BlameGroup[],
  coloured: readonly string[] | null,
  { repositoryUrl, now, authors }: BlameContext,
): BlameView {
  const times = [...commits.values()].map(({ committer }) => committer.at);
  const [oldest, newest] = [
    times.reduce((a, b) => Math.min(a, b), Infinity),
    times.reduce((a, b) => Math.max(a, b), -Infinity),
  ];
  const shadeOf = (at: number): number =>
    newest === oldest ? 0 : Math.min(shades - 1, Math.floor(((newest - at) / (newest - oldest)) * shades));

  const shown = new Set(groups.map(({ oid }) => oid));
  const lines = new Map(
    [...commits]
      .filter(([oid]) => shown.has(oid))
      .map(([oid, commit]) => [oid, viewCommitLine(commit, repositoryUrl, now, authors)]),
  );

  const viewBefore = escapeHtml(t('code.blame_table.view_before'));
  const row = (group: BlameGroup): string => {
    const [commit, line] = [commits.get(group.oid), lines.get(group.oid)];
    if (!commit || !line) return '';
    const { url, subject, author, at } = line;
    const by =
      author.url === null
        ? `<span>${escapeHtml(author.name)}</span>`
        : `<a href="${escapeHtml(author.url)}"${author.title === null ? '' : ` title="${escapeHtml(author.title)}"`}>${escapeHtml(author.name)}</a>`;
    const before = group.previous
      ? `<a class="before" href="${escapeHtml(codeUrl(repositoryUrl, 'blame', group.previous.oid, group.previous.file))}?lines=${group.firstLine}#L${group.firstLine}" title="${viewBefore}" aria-label="${escapeHtml(t('code.blame_table.view_before_commit', { commit: commit.oid.slice(0, 10) }))}">⤺</a>`
      : '';
    const content = group.lines.map((bytes, index) => {
      const number = group.firstLine + index;
      const known = coloured?.[number - 1];
      return `<span class="line"><a id="L${number}" href="#L${number}">${number}</a>${known === undefined ? lineHtml(textOf(bytes)) : showInvisibleCharacters(known.replace(/\r$/, ''))}\n</span>`;
    });
    return `<tr class="age-${shadeOf(commit.committer.at)}"><th scope="row"><a href="${escapeHtml(url)}" title="${escapeHtml(`${subject} (${author.name})`)}">${showInvisibleCharacters(escapeHtml(subject))}</a><span class="blame-facts">${by} <time datetime="${at.iso}" title="${at.title}">${at.text}</time>${before}</span></th><td><pre>${content.join('')}</pre></td></tr>`;
  };
  return { html: groups.map(row).join(''), ignoresRevisions };
}
