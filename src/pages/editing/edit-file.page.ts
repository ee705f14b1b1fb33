import { isWorkflowPath } from '../../ci/index.ts';
import type { FileFinding } from '../../ci/index.ts';
import type { TreeEntry } from '../../git/index.ts';
import { isDomainError, nullIfNotFound } from '../../kernel/index.ts';
import { readPointer } from '../../lfs/index.ts';
import { repositoryUrl } from '../../http/index.ts';
import type { FileOperation } from '../../repositories/index.ts';
import { t, translated } from '../../translation/index.ts';
import { codeUrl } from '../app/code-urls.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { viewName } from '../app/printable-names.ts';
import { page } from '../app/reply.ts';
import type { PageReply, Reply } from '../app/reply.ts';
import { viewRepositoryHeader } from '../app/repository-header.view.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';

import { editorConfigOf, tabWidthOf } from '../code/editor-config.ts';
import { readEditorConfigs } from '../code/read-editor-configs.ts';
import { markdownName } from '../code/readme.view.ts';
import { renderText } from '../markdown/render-text.ts';
import { blankChange, readChange, sendChange, viewChange } from './change-form.ts';
import type { ChangeForm } from './change-form.ts';
import type { EditingDeps } from './deps.ts';
import { readEditTarget } from './edit-target.ts';
import type { EditTarget } from './edit-target.ts';
import { encodeEditedText, maxEditedBytes, readEditable } from './editable-text.ts';
import { previewChange } from './preview-change.ts';

/** The values in the form of a file. */
interface FileForm extends ChangeForm {
  path: string;
  /** Null for a file whose content cannot be edited here. */
  text: string | null;
  /** The blob that the user started from; '' for a new file. */
  blob: string;
}

/** An existing file, with the reason if its content cannot be edited; null for a new one. */
interface KnownFile {
  path: string;
  entry: TreeEntry;
  content: Buffer | null;
  reason: string | null;
}

const otherKinds: Partial<Record<TreeEntry['kind'], string>> = translated({
  symlink: 'editing.edit_file.symbolic_links_can_only_be_changed',
  submodule: 'editing.edit_file.submodules_can_only_be_changed_with',
});

async function knownFile({ found }: RepositoryContext, { git }: EditingDeps, { tip, file }: EditTarget) {
  if (tip === null) return null;
  const entry = await git.objects.entryAt(found.path, tip, file).catch(nullIfNotFound);
  if (entry === null || entry.kind === 'folder') return null;
  const isFile = entry.type === 'blob' && entry.kind !== 'symlink';
  const content = isFile
    ? (await git.objects.blob(found.path, entry.oid, { maxBytes: maxEditedBytes })).content
    : Buffer.alloc(0);
  const text = readEditable(content);
  const isPointer = content !== null && readPointer(content) !== null;
  const reason =
    otherKinds[entry.kind] ??
    (isPointer ? t('editing.edit_file.this_file_is_stored_in_git') : 'reason' in text ? text.reason : null);
  return { path: file.toString(), entry, content, reason } satisfies KnownFile;
}

/** `B/edit/{branch}/{path}` */
export const showEdit: Page<RepositoryContext, EditingDeps> = async (context, deps) => {
  const place = await readEditTarget(context, deps);
  const known = await knownFile(context, deps, place);
  if (known === null) return page('editing/no-file', await frame(context, place), { status: 404 });
  const text = known.reason === null ? readEditable(known.content) : null;
  return filePage(context, deps, place, known, {
    ...blankChange(place),
    path: known.path,
    text: text !== null && 'text' in text ? text.text : null,
    blob: known.entry.oid,
  });
};

/** `B/new/{branch}/{folder}`; query `name` prefills the file name. */
export const showNew: Page<RepositoryContext, EditingDeps> = async (context, deps) => {
  const place = await readEditTarget(context, deps);
  const folder = place.file.length === 0 ? '' : `${place.file.toString()}/`;
  const path = folder + (context.query.get('name') ?? '').slice(0, 255);
  return filePage(context, deps, place, null, { ...blankChange(place), path, text: '', blob: '' });
};

/** Fields `path`, `text`, `blob`, those of `readChange`, and `action`: `commit`, `diff`, `check` or `preview`. */
export const sendFile: Page<RepositoryContext, EditingDeps> = async (context, deps) => {
  const { form, found } = context;
  const place = await readEditTarget(context, deps);
  const isNew = form.text('blob') === '';
  const known = isNew ? null : await knownFile(context, deps, place);
  const path = form.text('path').trim();
  const isTextSent = isNew || (known === null ? form.all('text').length > 0 : known.reason === null);
  const values: FileForm = {
    ...readChange(form, place),
    path,
    text: isTextSent ? form.text('text') : null,
    blob: form.text('blob'),
  };
  const action = form.text('action');
  const url = repositoryUrl(found.canonical);
  return submitForm(
    async (): Promise<Reply> => {
      const operations = [await operationOf(context, deps, place, known, values)];
      const isWorkflow = isWorkflowPath(path) && values.text !== null;
      const findings =
        isWorkflow && action !== 'commit' ? await deps.ci.workflows.check(found, path, values.text ?? '') : null;
      if (action === 'check') return filePage(context, deps, place, known, values, { findings });
      if (action === 'diff') {
        const diff = await previewChange(deps, found, place, operations);
        return filePage(context, deps, place, known, values, { diff, findings });
      }
      if (action === 'preview') {
        const document = await renderText(context, deps, values.text ?? '', { isFile: true });
        return filePage(context, deps, place, known, values, { document });
      }
      return sendChange(context, deps, place, {
        operations,
        change: values,
        leadsTo: (branch) =>
          withFlashMessage(codeUrl(url, 'blob', branch, Buffer.from(path)), isNew ? 'file-created' : 'file-saved'),
      }).catch((error: unknown) => {
        if (!isDomainError(error) || (error.reason !== 'file_changed' && error.reason !== 'file_not_found'))
          throw error;
        return conflictPage(context, deps, values);
      });
    },
    (refusal) => filePage(context, deps, place, known, values, { refusal }),
  );
};

async function operationOf(
  context: RepositoryContext,
  deps: EditingDeps,
  place: EditTarget,
  known: KnownFile | null,
  { path, text, blob }: FileForm,
): Promise<FileOperation> {
  const from = place.file.toString();
  if (text === null) return { kind: 'update', path, from, expected: blob };
  const config = editorConfigOf(await readEditorConfigs(context, deps, place.tip, path), path);
  const written = { newLines: config.endOfLine ?? 'lf', insertsFinalNewline: config.insertFinalNewline ?? false };
  const content = encodeEditedText(text, known?.content ?? null, written);
  return blob === '' ? { kind: 'create', path, content } : { kind: 'update', path, from, content, expected: blob };
}

/**
 * After a conflicting change or deletion of the file: both versions, and the form with the entered values, for another
 * attempt.
 */
async function conflictPage(context: RepositoryContext, deps: EditingDeps, values: FileForm): Promise<PageReply> {
  const place = await readEditTarget(context, deps);
  const known = await knownFile(context, deps, place);
  const theirs = known === null || known.reason !== null ? null : readEditable(known.content);
  const again = { ...values, blob: known?.entry.oid ?? '' };
  const operation = await operationOf(context, deps, place, known, again);
  const diff = await previewChange(deps, context.found, place, [operation]).catch((error: unknown) => {
    if (isDomainError(error)) return null;
    throw error;
  });
  const shown = await filePage(context, deps, place, known, again, {
    diff,
    conflict: {
      isGone: known === null,
      theirs: theirs !== null && 'text' in theirs ? theirs.text : null,
      history: codeUrl(repositoryUrl(context.found.canonical), 'commits', place.branch, place.file),
    },
  });
  return { ...shown, status: 409 };
}

async function frame({ found }: RepositoryContext, { branch, file }: EditTarget) {
  return { repository: viewRepositoryHeader(found), branch: viewName(branch), name: viewName(file.toString()) };
}

interface Shown {
  refusal?: FormRefusal | null;
  diff?: Awaited<ReturnType<typeof previewChange>> | null;
  document?: Awaited<ReturnType<typeof renderText>> | null;
  /** The results of the workflow check; null when it was not requested. */
  findings?: readonly FileFinding[] | null;
  conflict?: { isGone: boolean; theirs: string | null; history: string } | null;
}

async function filePage(
  context: RepositoryContext,
  deps: EditingDeps,
  place: EditTarget,
  known: KnownFile | null,
  values: FileForm,
  { refusal = null, diff = null, document = null, findings = null, conflict = null }: Shown = {},
): Promise<PageReply> {
  const url = repositoryUrl(context.found.canonical);
  const { path, text, blob } = values;
  const config = editorConfigOf(await readEditorConfigs(context, deps, place.tip, path), path);
  const kept = known?.content == null ? null : readEditable(known.content);
  const ending = kept !== null && 'ending' in kept && kept.ending !== 'none' ? kept.ending : (config.endOfLine ?? 'lf');
  const isLink = known !== null && otherKinds[known.entry.kind] !== undefined;
  const subject = blob === '' ? (path === '' || path.endsWith('/') ? 'Add a file' : `Add ${path}`) : `Update ${path}`;
  return page('editing/edit-file', {
    ...(await frame(context, place)),
    isNew: blob === '' && conflict === null,
    action:
      blob === '' && known === null
        ? codeUrl(url, 'new', place.branch, place.file)
        : codeUrl(url, 'edit', place.branch, place.file),
    cancel: codeUrl(
      url,
      known === null ? 'tree' : 'blob',
      place.branch,
      known === null && blob !== '' ? Buffer.alloc(0) : place.file,
    ),
    removal: known === null || isLink ? null : codeUrl(url, 'delete', place.branch, place.file),
    upload: codeUrl(url, 'upload', place.branch, known === null ? place.file : Buffer.alloc(0)),
    form: { path, text, blob },
    change: viewChange(place, values, subject),
    reason: known?.reason ?? null,
    mayRename: !isLink,
    tabSize: tabWidthOf(config) ?? (config.indentStyle === 'space' ? 4 : 8),
    indent: config.indentStyle === 'space' ? ' '.repeat(config.indentSize ?? config.tabWidth ?? 4) : '\t',
    ending: ending === 'crlf' ? 'CRLF' : ending === 'mixed' ? t('editing.edit_file.crlf_and_lf') : 'LF',
    isMarkdown: text !== null && markdownName.test(path),
    refusal,
    diff,
    document,
    isWorkflow: text !== null && isWorkflowPath(path),
    findings:
      findings?.map(({ severity, line, column, message }) => ({
        severity,
        line,
        column,
        message: viewName(message),
      })) ?? null,
    conflict,
  });
}
