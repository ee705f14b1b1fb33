import type { RefPath, TreeEntry } from '../../git/index.ts';
import { imageSize } from '../../images/index.ts';
import { readPointer } from '../../lfs/index.ts';
import { movedTo, page, type Reply } from '../app/reply.ts';
import { prepareDocument } from '../markdown/prepare-document.ts';
import { noReferences, readReferences } from '../markdown/reference-links.ts';
import { remoteImagesOf } from '../markdown/remote-images.ts';
import { fillDocument } from '../markdown/render-document.ts';
import { repositoryLinks } from '../markdown/repository-links.ts';
import { codeUrl, splitPath } from '../app/code-urls.ts';
import { readAnnotations, withLineNotes } from './annotations.view.ts';
import { readLineRange, viewCodeLines } from './code-lines.view.ts';
import { viewCommitLine } from './commit-line.view.ts';
import { maxTableBytes, readCsv, tableSeparator } from './csv-table.view.ts';
import type { CsvTable } from './csv-table.view.ts';
import { imageType } from './media-types.ts';
import { decodeFileText } from './decode-text.ts';
import { viewName } from '../app/printable-names.ts';
import { markdownName, maxReadmeBytes } from './readme.view.ts';
import { viewCount, viewSize } from '../app/format-numbers.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { editingLinks } from './editing-links.ts';
import { readCodeNavigation, resolveLocation } from './resolve-location.ts';
import { setImageSizes } from './blob-image-size.ts';
import type { Dependency } from '../app/dependency.ts';
import { authorsOfCommits } from './commit-authors.ts';
import { readCommitReferences } from './commit-references.ts';
import { readCommitStatuses } from './commit-statuses.ts';
import type { CodeDeps } from './deps.ts';

/** Larger files are not shown line by line (security I05). */
const maxShownBytes = 1024 * 1024;

interface Asked {
  context: RepositoryContext;
  deps: CodeDeps;
  at: RefPath;
  entry: TreeEntry;
}

/** What a file is shown as: exactly one of the fields is set, and `facts` says more as text. */
async function readContent({ context, deps, at, entry }: Asked) {
  const { git, highlighting } = deps;
  const { content, size } = await git.objects.blob(context.found.path, entry.oid, { maxBytes: maxShownBytes });
  const facts = [viewSize(size)];
  const raw = codeUrl(repositoryUrl(context.found.canonical), 'raw', at.ref, at.file);
  const pointer = content === null || entry.kind === 'symlink' ? null : readPointer(content);
  if (pointer !== null && context.query.get('plain') !== '1') {
    // Whether the object is here is no part of what the page cache compares.
    const isHere = (await deps.lfs.ofPointer(context.found.repository.id, content!)) !== null;
    const shared = { facts: [viewSize(pointer.bytes), 'stored with Git LFS'], isFinal: false };
    if (isHere && imageType(entry.name) !== null) return { ...shared, image: { url: raw } };
    return { ...shared, lfs: { oid: pointer.oid, isHere } };
  }
  if (entry.kind === 'symlink') return { facts, target: viewName(content?.toString() ?? '') };
  if (imageType(entry.name) !== null && context.query.get('plain') !== '1') {
    const sides = content === null ? null : imageSize(content);
    if (sides !== null) facts.unshift(`${sides.width} × ${sides.height} pixels`);
    return { facts, image: { url: raw, ...sides } };
  }
  if (content === null) return { facts, reason: 'This file is too large to show here.' };
  if (content.length === 0) return { facts, reason: 'This file is empty.' };
  const text = decodeFileText(content);
  if (text === null) return { facts, reason: 'This is a binary file.' };
  if (text.encoding !== 'UTF-8') facts.push(text.encoding);
  if (
    markdownName.test(entry.name) &&
    context.query.get('plain') !== '1' &&
    !context.query.has('lines') &&
    size <= maxReadmeBytes
  ) {
    return { facts, ...(await readDocument({ context, deps, at, entry }, text.text)) };
  }
  const table = readTable(context, entry.name, size, text.text);
  if (table !== null) return { facts: [viewCount(table.rows.length, 'row'), ...facts], table };
  const request = { oid: entry.oid, fileName: entry.name, text: text.text, client: context.found.path };
  const coloured = await highlighting.highlight(request);
  const lines = viewCodeLines(text.text, coloured, readLineRange(context.query.get('lines')));
  const annotations = await readAnnotations(context, deps, at.oid);
  const code = { ...lines, html: withLineNotes(lines.html, annotations.inFile(at.file)) };
  facts.unshift(viewCount(code.count, 'line'));
  if (entry.kind === 'executable') facts.push('executable');
  if (!code.endsWithBreak) facts.push('no newline at the end');
  return {
    facts,
    code,
    dependency: annotations.dependency,
    isFinal: coloured !== null || !highlighting.canHighlight(request),
  };
}

/** A file of separated values as a table, unless its source or a line of it is asked for. */
function readTable({ query }: RepositoryContext, name: string, size: number, text: string): CsvTable | null {
  const separator = tableSeparator(name);
  if (separator === null || size > maxTableBytes || query.get('plain') === '1' || query.has('lines')) return null;
  return readCsv(text, separator);
}

/** A Markdown file as a document, or as text with a word on why. */
async function readDocument({ context, deps, at, entry }: Asked, text: string) {
  const { found, origin } = context;
  const url = repositoryUrl(found.canonical);
  const place = {
    repositoryUrl: url,
    ref: at.ref,
    folder: splitPath(at.file).folder,
    ...remoteImagesOf(found, deps, origin),
  };
  const prepared = await prepareDocument(deps.workers, {
    key: entry.oid,
    client: url,
    source: () => text,
    showsRemoteImages: place.showsRemoteImages,
    origin,
  });
  const references = await readReferences(context, deps, 'text' in prepared ? [] : prepared.references);
  const links = repositoryLinks(place);
  const document = fillDocument(prepared, { links, references, origin, taskForm: null });
  const { isFinal } = document;
  if (!('html' in document)) return { plain: document, isFinal };
  const html = await setImageSizes(deps.git, found.path, url, at, document.html);
  return { document: html, isFinal, dependency: references.dependency };
}

/** `B/blob/{ref}/{path}`: a file. */
export const showBlob: Page<RepositoryContext, CodeDeps> = async (context, deps): Promise<Reply> => {
  const { found } = context;
  const url = repositoryUrl(found.canonical);
  const at = await resolveLocation(context, deps);
  if (at.file.length === 0) return movedTo(codeUrl(url, 'tree', at.ref));
  const entry = await deps.git.objects.entryAt(found.path, at.oid, at.file);
  if (entry.type !== 'blob') return movedTo(codeUrl(url, 'tree', at.ref, at.file));
  const [frame, content, commit] = await Promise.all([
    readCodeNavigation(context, deps, at, 'blob'),
    readContent({ context, deps, at, entry }),
    deps.git.queries.lastChange(found.path, at.oid, at.file),
  ]);
  const authors = await authorsOfCommits(deps, commit === null ? [] : [commit]);
  const statuses = await readCommitStatuses(context, deps, commit === null ? [] : [commit.oid]);
  const references = await readCommitReferences(context, deps, commit === null ? [] : [commit.subject]);
  const { dependency: ofDocument = noReferences.dependency } = content as { dependency?: Dependency };
  return page(
    'code/blob',
    {
      ...frame,
      content,
      commit: commit && viewCommitLine(commit, url, deps.clock.now(), authors, statuses.of(commit.oid), references),
      hasSource:
        markdownName.test(entry.name) ||
        'table' in content ||
        /\.svg$/i.test(entry.name) ||
        (tableSeparator(entry.name) !== null && context.query.get('plain') === '1'),
      isRendered: !('code' in content),
      links: {
        raw: codeUrl(url, 'raw', at.ref, at.file),
        blame:
          'code' in content || 'document' in content || 'plain' in content || 'table' in content
            ? codeUrl(url, 'blame', at.ref, at.file)
            : null,
        self: codeUrl(url, 'blob', at.ref, at.file),
        ...editingLinks(context, at, entry),
      },
    },
    {
      restsOn:
        content.isFinal === false ? null : [authors.dependency, statuses.dependency, references.dependency, ofDocument],
    },
  );
};
