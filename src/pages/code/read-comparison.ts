import type { ChangedFile, DiffRange, PatchLimits } from '../../git/index.ts';
import type { CommitAnnotations } from './annotations.view.ts';
import { fileParameter, isImageFile, viewChangedFile } from './changed-file.view.ts';
import { viewCount } from '../app/format-numbers.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import { decodePath } from '../app/code-urls.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { highlightPatches } from './highlight-patches.ts';
import { markWords } from './mark-words.ts';
import { readBlobImageSizes } from './blob-image-size.ts';
import { contextParameter, moreLinesLink, readContextLines } from './context-lines.ts';
import type { CodeDeps } from './deps.ts';
import { readGenerated } from './generated-files.ts';
import { readTabClasses } from './read-editor-configs.ts';

/** Limits of a page with all files; the page of a single file has much higher ones. */
const pageLimits: PatchLimits = { files: 100, linesPerFile: 1_000, bytesPerLine: 5_100, bytes: 1024 * 1024 };
const fileLimits: PatchLimits = { files: 2, linesPerFile: 20_000, bytesPerLine: 5_100, bytes: 4 * 1024 * 1024 };

/** The display options of a comparison from the URL; unknown values give the default. */
function readDiffOptions({ query }: RepositoryContext) {
  return {
    layout: query.get('view') === 'split' ? ('split' as const) : ('unified' as const),
    ignoreWhitespace: query.get('w') === '1',
    only: query.get('file'),
    contextLines: readContextLines(query),
  };
}

/** The files that differ between two commits, line by line, within limits. @param self this page without its query */
export async function readComparison(
  context: RepositoryContext,
  deps: CodeDeps,
  range: Pick<DiffRange, 'from' | 'to'>,
  self: string,
  notes: Pick<CommitAnnotations, 'inFile'> | null = null,
) {
  const { found } = context;
  const { git } = deps;
  const { layout, ignoreWhitespace, only, contextLines } = readDiffOptions(context);
  const address = (change: Record<string, string | null>): string => {
    const query = new URLSearchParams();
    const wanted = {
      view: layout === 'split' ? 'split' : null,
      w: ignoreWhitespace ? '1' : null,
      file: only,
      context: contextParameter(contextLines),
      ...change,
    };
    for (const [name, value] of Object.entries(wanted)) if (value !== null) query.set(name, value);
    return query.size === 0 ? self : `${self}?${query}`;
  };
  const onlyPath = only === null ? undefined : decodePath(only);
  const request = { from: range.from, to: range.to, ignoreWhitespace, contextLines, only: onlyPath };
  const { files, truncated, patches, cutShort } = await git.queries.readDiff(
    found.path,
    request,
    only === null ? pageLimits : fileLimits,
  );
  const wanted = onlyPath === undefined ? files : files.filter(({ newPath }) => newPath.equals(onlyPath));
  const [{ colours, ...coloured }, { marks, ...marked }] = await Promise.all([
    highlightPatches(found.path, deps, patches),
    markWords(found.path, deps, patches),
  ]);
  const shown = wanted.slice(0, Math.max(pageLimits.files, 1));
  const sizes = await readBlobImageSizes(git, found.path, shown.filter(isImageFile));
  const paths = shown.map(({ newPath }) => newPath.toString());
  const [tabsOf, isGenerated] = await Promise.all([
    readTabClasses(context, deps, range.to, paths),
    // A file requested by itself is never folded.
    only === null ? readGenerated(context, deps, range.to, paths) : undefined,
  ]);
  const byFile = new Map(patches.map((patch) => [patch.file.newPath.toString('latin1'), patch]));
  const diff = {
    repositoryUrl: repositoryUrl(found.canonical),
    from: range.from,
    to: range.to,
    layout,
    tabsOf,
    ...(isGenerated && { isGenerated }),
    loadUrl: (file: ChangedFile) => address({ file: fileParameter(file.newPath) }),
    moreLinesOf: (file: ChangedFile) =>
      moreLinesLink(file, contextLines, (lines) => address({ file: fileParameter(file.newPath), context: lines })),
    coloursOf: (file: ChangedFile) => colours.get(file),
    marksOf: (file: ChangedFile) => marks.get(file),
    sizeOf: (oid: string) => sizes.get(oid) ?? null,
    notesOf: (file: ChangedFile) => notes?.inFile(file.newPath) ?? new Map(),
  };
  const sum = (field: 'added' | 'removed') => files.reduce((total, file) => total + (file[field] ?? 0), 0);
  return {
    files: shown.map((file, index) => viewChangedFile(file, byFile.get(file.newPath.toString('latin1')), index, diff)),
    summary: {
      files: truncated
        ? t('pulls.changes_page.files_or_more', { files: viewCount(files.length, 'changed file') })
        : viewCount(files.length, 'changed file'),
      added: sum('added'),
      removed: sum('removed'),
    },
    hidden: wanted.length - shown.length,
    cutShort,
    isComplete: coloured.isComplete && marked.isComplete && !cutShort,
    layout,
    ignoreWhitespace,
    isOneFile: only !== null,
    urls: {
      all: address({ file: null, context: null }),
      unified: address({ view: null }),
      split: address({ view: 'split' }),
      whitespace: address({ w: ignoreWhitespace ? null : '1' }),
    },
  };
}
