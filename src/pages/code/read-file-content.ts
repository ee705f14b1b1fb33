import type { RefPath, TreeEntry } from '../../git/index.ts';
import { maxBlameBytes } from '../../git/index.ts';
import { imageSize } from '../../images/index.ts';
import { yieldToEventLoop } from '../../kernel/index.ts';
import { readPointer } from '../../lfs/index.ts';
import { prepareDocument } from '../markdown/prepare-document.ts';
import type { DocumentKind, PlainDocument, PreparedDocument } from '../markdown/prepare-document.ts';
import { prepareNotebook } from '../markdown/prepare-notebook.ts';
import { readReferences } from '../markdown/reference-links.ts';
import { remoteImagesOf } from '../markdown/remote-images.ts';
import { fillDocument } from '../markdown/render-document.ts';
import { repositoryLinks } from '../markdown/repository-links.ts';
import { codeUrl, splitPath } from '../app/code-urls.ts';
import { readAnnotations, withLineNotes } from './annotations.view.ts';
import { readLineRange, viewCodeLines } from './code-lines.view.ts';
import { maxTableBytes, readCsv, tableSeparator } from './csv-table.view.ts';
import type { CsvTable } from './csv-table.view.ts';
import { imageType, isNotebook, isPdf } from './media-types.ts';
import { decodeFileText } from '../app/decode-text.ts';
import { viewName } from '../app/printable-names.ts';
import { documentKindOf, maxReadmeBytes } from './readme.view.ts';
import { viewCount, viewSize } from '../app/format-numbers.ts';
import { repositoryUrl } from '../../http/index.ts';
import { t } from '../../translation/index.ts';
import type { Dependency } from '../app/dependency.ts';
import type { RepositoryContext } from '../app/request-context.ts';
import { readTabClasses } from './read-editor-configs.ts';
import { setImageSizes } from './blob-image-size.ts';
import type { CodeDeps } from './deps.ts';
import { followLinks } from './follow-links.ts';
import { viewPart } from './text-part.view.ts';
import { partOfText, readPartNumber } from './text-parts.ts';

/** Larger files are shown neither line by line nor rendered (security I05). */
const maxShownBytes = 8 * 1024 * 1024;
/** A larger PDF is not embedded in its page: a link opens it. */
const maxPdfBytes = 32 * 1024 * 1024;

interface FileRequest {
  context: RepositoryContext;
  deps: CodeDeps;
  at: RefPath;
  entry: TreeEntry;
}

/** The presentation of a file: one of the fields beside these, which `code/blob.pug` names. */
interface FileContent extends Record<string, unknown> {
  /** A note above the content, as text. */
  facts: string[];
  /** Whether it has a blame page. */
  hasBlame?: boolean;
  /** False when a later view may show more; absent where it shows the same. */
  isFinal?: boolean;
  dependency?: Dependency;
}

export async function readFileContent({ context, deps, at, entry }: FileRequest): Promise<FileContent> {
  const { query, found } = context;
  const { content, size } = await deps.git.objects.blob(found.path, entry.oid, { maxBytes: maxShownBytes });
  const facts = [viewSize(size)];
  const raw = codeUrl(repositoryUrl(found.canonical), 'raw', at.ref, at.file);
  const isSource = query.get('plain') === '1';
  const pointer = content === null || entry.kind === 'symlink' ? null : readPointer(content);
  if (pointer !== null && !isSource) {
    // The page cache does not track whether the object is present.
    const isHere = (await deps.lfs.ofPointer(found.repository.id, content!)) !== null;
    const shared = {
      facts: [viewSize(pointer.bytes), t('code.read_file_content.stored_with_git_lfs')],
      isFinal: false,
    };
    if (isHere && imageType(entry.name) !== null) return { ...shared, image: { url: raw } };
    if (isHere && isPdf(entry.name)) return { ...shared, pdf: viewPdf(raw, pointer.bytes) };
    return { ...shared, lfs: { oid: pointer.oid, isHere } };
  }
  if (entry.kind === 'symlink') {
    const target = await followLinks(deps.git, found.path, at);
    const url =
      target &&
      codeUrl(repositoryUrl(found.canonical), target.entry?.type === 'blob' ? 'blob' : 'tree', at.ref, target.file);
    return { facts, target: { text: viewName(content?.toString() ?? ''), url } };
  }
  if (imageType(entry.name) !== null && !isSource) {
    const sides = content === null ? null : imageSize(content);
    if (sides !== null) facts.unshift(t('code.read_file_content.pixels', { width: sides.width, height: sides.height }));
    return { facts, image: { url: raw, ...sides } };
  }
  if (isPdf(entry.name) && !isSource) return { facts, isFinal: false, pdf: viewPdf(raw, size) };
  if (content === null) return { facts, reason: t('code.read_file_content.this_file_is_too_large_to') };
  if (content.length === 0) return { facts, reason: t('code.read_file_content.this_file_is_empty') };
  await yieldToEventLoop();
  const text = decodeFileText(content);
  if (text === null) return { facts, reason: t('code.read_file_content.this_is_a_binary_file') };
  if (text.encoding !== 'UTF-8') facts.push(text.encoding);
  return { ...(await readText({ context, deps, at, entry }, text.text, size, facts)), hasBlame: size <= maxBlameBytes };
}

/** A text as a document, a table or lines. */
async function readText(request: FileRequest, text: string, size: number, facts: string[]): Promise<FileContent> {
  const { query } = request.context;
  const { name } = request.entry;
  const isRendered = query.get('plain') !== '1' && !query.has('lines') && !query.has('part');
  const kind = documentKindOf(name);
  if (isRendered && kind !== null && size <= maxReadmeBytes)
    return { facts, ...(await readDocument(request, text, kind)) };
  if (isRendered && isNotebook(name)) {
    const notebook = await readNotebook(request, text);
    if ('cells' in notebook) return { ...notebook, facts: [notebook.cells, ...facts] };
    if (notebook.reason !== null)
      facts.push(t('code.read_file_content.its_source_because_reason', { reason: notebook.reason }));
    const lines = await readLines(request, text, facts);
    return { ...lines, isFinal: lines.isFinal && notebook.isFinal };
  }
  await yieldToEventLoop();
  const table = isRendered ? readTable(name, size, text) : null;
  if (table !== null) return { facts: [viewCount(table.rows.length, 'row'), ...facts], table };
  return readLines(request, text, facts);
}

const viewPdf = (url: string, size: number) => ({ url, isShown: size <= maxPdfBytes });

/** The lines of a file, or of the requested part, highlighted unless the file is too large. */
async function readLines({ context, deps, at, entry }: FileRequest, text: string, facts: string[]) {
  const { query, found } = context;
  const request = { oid: entry.oid, fileName: entry.name, text, client: found.path };
  const path = at.file.toString();
  const [coloured, tabs] = await Promise.all([
    deps.highlighting.highlight(request),
    readTabClasses(context, deps, at.oid, [path]),
  ]);
  const range = readLineRange(query.get('lines'));
  await yieldToEventLoop();
  const part = partOfText(text, range === null ? { number: readPartNumber(query.get('part')) } : { line: range.first });
  await yieldToEventLoop();
  const lines = viewCodeLines(part.text, coloured, range, part.firstLine);
  const annotations = await readAnnotations(context, deps, at.oid, [path]);
  const html = withLineNotes(lines.html, annotations.inFile(at.file), part.firstLine);
  facts.unshift(viewCount(part.lineCount, 'line'));
  if (entry.kind === 'executable') facts.push('executable');
  if (!text.endsWith('\n')) facts.push(t('code.read_file_content.no_newline_at_the_end'));
  return {
    facts,
    code: {
      ...lines,
      html,
      tabs: tabs(path),
      lineCount: part.lineCount,
      part: viewPart(part, query.get('plain') === '1'),
    },
    dependency: annotations.dependency,
    isFinal: coloured !== null || !deps.highlighting.canHighlight(request),
  };
}

/** A file of comma- or tab-separated values as a table. */
function readTable(name: string, size: number, text: string): CsvTable | null {
  const separator = tableSeparator(name);
  return separator === null || size > maxTableBytes ? null : readCsv(text, separator);
}

/** The renderer of a file as a document. */
function sourceOf(request: FileRequest, text: string) {
  const { repositoryUrl, showsRemoteImages } = placeOf(request);
  const { origin } = request.context;
  return { key: request.entry.oid, client: repositoryUrl, source: () => text, showsRemoteImages, origin };
}

/** A file as a document, or as text with the reason. */
async function readDocument(request: FileRequest, text: string, kind: DocumentKind) {
  const prepared = await prepareDocument(request.deps.workers, { ...sourceOf(request, text), kind });
  return fill(request, prepared);
}

/** A notebook as a document, or its source with the reason. */
async function readNotebook(request: FileRequest, text: string) {
  const prepared = await prepareNotebook(request.deps.workers, sourceOf(request, text));
  if (!('document' in prepared)) return prepared;
  return {
    ...(await fill(request, prepared.document)),
    cells: viewCount(prepared.cellCount, 'cell'),
    isNotebook: true,
  };
}

const placeOf = ({ context: { found, origin }, deps, at }: FileRequest) => ({
  repositoryUrl: repositoryUrl(found.canonical),
  ref: at.ref,
  folder: splitPath(at.file).folder,
  ...remoteImagesOf(found, deps, origin),
});

async function fill(request: FileRequest, prepared: PreparedDocument | PlainDocument) {
  const { context, deps, at } = request;
  const { found, origin } = context;
  const references = await readReferences(context, deps, 'text' in prepared ? [] : prepared.references);
  const links = repositoryLinks(placeOf(request));
  const document = fillDocument(prepared, { links, references, origin, taskForm: null });
  const { isFinal } = document;
  if (!('html' in document)) return { plain: document, isFinal };
  const html = await setImageSizes(deps.git, found.path, repositoryUrl(found.canonical), at, document.html);
  return { document: html, isFinal, dependency: references.dependency };
}
