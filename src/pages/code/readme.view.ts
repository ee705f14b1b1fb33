import type { TreeEntry } from '../../git/index.ts';
import type { WorkerPool } from '../../workers/index.ts';
import type { BareReference } from '../../issues/index.ts';
import { t } from '../../translation/index.ts';
import { prepareDocument } from '../markdown/prepare-document.ts';
import type { DocumentSource, PlainDocument, PreparedDocument } from '../markdown/prepare-document.ts';
import { fillDocument } from '../markdown/render-document.ts';
import type { DocumentFills } from '../markdown/render-document.ts';
import { decodeFileText } from '../app/decode-text.ts';
import { viewName } from '../app/printable-names.ts';

/** A README for the page: exactly one of `html` and `text` is set. */
export interface ReadmeView {
  name: string;
  /** Rendered and sanitised; the only HTML that a template prints unescaped. */
  html: string | null;
  text: string | null;
  /** The reason why a document is shown as text; null when no note is needed. */
  note: string | null;
  /** Whether only its beginning is shown. */
  isCut?: boolean;
  /** Whether the result is final; otherwise a later view may show more. */
  isFinal: boolean;
}

/** Longer texts are cut to this. */
export const maxReadmeBytes = 128 * 1024;

/** Longer files are not read; only their name is shown. */
export const maxReadBytes = 4 * 1024 * 1024;

/** Cuts after a whole line if one ends in the last quarter, and never inside a character. */
function cut(content: Buffer): Buffer {
  const line = content.lastIndexOf(0x0a, maxReadmeBytes - 1) + 1;
  let end = line > maxReadmeBytes * 0.75 ? line : maxReadmeBytes;
  while (end > 0 && (content[end]! & 0xc0) === 0x80) end -= 1;
  return content.subarray(0, end);
}

/** Text in any markup; other file types have other extensions. */
const readmeName =
  /^readme(?:\.(?!(?:png|jpe?g|gif|webp|svg|ico|pdf|docx?|odt|rtf|zip|gz|xz|html?)$)[a-z0-9_-]{1,20})?$/i;

/** Markup that is shown as source. */
const plainMarkup: Readonly<Record<string, string>> = {
  rst: 'reStructuredText',
  org: 'Org',
  textile: 'Textile',
  rdoc: 'RDoc',
  pod: 'Pod',
};

export const isReadmeName = (name: string): boolean => readmeName.test(name);

function noteOf(name: string): string | null {
  const markup = plainMarkup[name.slice(name.lastIndexOf('.') + 1).toLowerCase()];
  return markup === undefined ? null : t('code.readme.markup_is_shown_as_text', { markup });
}
export const markdownName = /\.(?:md|markdown|mkd)$/i;
const asciidocName = /\.(?:adoc|asciidoc)$/i;

/** The renderer by file name; null where the file is shown as text. */
export const documentKindOf = (name: string): 'file' | 'asciidoc' | null =>
  markdownName.test(name) ? 'file' : asciidocName.test(name) ? 'asciidoc' : null;

/** A README is text whatever its first bytes are. */
const decodeText = (content: Buffer): string => decodeFileText(content)?.text ?? content.toString('latin1');

const usualText = /\.(?:txt|text)$/i;
/** Order of preference when a folder has several; names without an extension precede other extensions. */
const order: readonly ((name: string) => boolean)[] = [
  (name) => markdownName.test(name),
  (name) => asciidocName.test(name),
  (name) => noteOf(name) !== null,
  (name) => usualText.test(name),
  (name) => !name.includes('.'),
  () => true,
];
const rank = ({ name }: TreeEntry): number => order.findIndex((isOne) => isOne(name));

/** The README of a folder: Markdown, other markup, plain text; see `find-readme-file.ts` for symbolic links. */
export function findReadme(entries: readonly TreeEntry[]): TreeEntry | null {
  const candidates = entries.filter(
    ({ name, kind }) => (kind === 'file' || kind === 'executable') && readmeName.test(name),
  );
  return candidates.sort((a, b) => rank(a) - rank(b))[0] ?? null;
}

/** A README before its references are looked up. */
export type PreparedReadme =
  | { kind: 'plain'; view: ReadmeView }
  | { kind: 'document'; name: string; document: PreparedDocument | PlainDocument; isCut: boolean };

/** @param whole null when the file is larger than `maxReadBytes` */
export async function prepareReadme(
  workers: WorkerPool,
  { name, oid }: TreeEntry,
  whole: Buffer | null,
  source: Pick<DocumentSource, 'client' | 'showsRemoteImages' | 'origin'>,
): Promise<PreparedReadme> {
  const isCut = whole !== null && whole.length > maxReadmeBytes;
  const content = isCut ? cut(whole) : whole;
  const plain = (text: string): PreparedReadme => ({
    kind: 'plain',
    view: {
      name: viewName(name),
      html: null,
      text,
      note: content === null ? null : noteOf(name),
      isCut,
      isFinal: true,
    },
  });
  if (content === null) return plain(t('code.readme.this_file_is_too_large_to'));
  const kind = documentKindOf(name);
  if (kind === null) return plain(decodeText(content));
  const document = await prepareDocument(workers, {
    ...source,
    kind,
    key: isCut ? `${oid} cut` : oid,
    source: () => decodeText(content),
  });
  return { kind: 'document', name: viewName(name), document, isCut };
}

export const referencesOfReadme = (readme: PreparedReadme | null): readonly BareReference[] =>
  readme?.kind === 'document' && 'references' in readme.document ? readme.document.references : [];

export function viewReadme(readme: PreparedReadme, fills: DocumentFills): ReadmeView {
  if (readme.kind === 'plain') return readme.view;
  return {
    name: readme.name,
    html: null,
    text: null,
    note: null,
    isCut: readme.isCut,
    ...fillDocument(readme.document, fills),
  };
}
