import { attachmentMarkdown, attachmentPath } from '../../issues/index.ts';
import { isDomainError, unauthenticated } from '../../kernel/index.ts';
import type { WebDeps } from '../../web/index.ts';
import type { AttachedFile, Context, Middleware } from './context.ts';
import type { PendingFile } from '../../releases/index.ts';
import { releaseUploadMs } from '../../releases/index.ts';
import { createForm, discardBody, readMultipart } from '../../http/index.ts';
import { readForm } from './forms.ts';

/** Maximum number of files in one form; the maximum file size is a setting. */
const maxFiles = 10;
const maxFields = 100;
/** A text of 64 KiB, and the other fields of the form. */
const maxFieldBytes = 128 * 1024;

/** The form field of files. */
const fileField = 'files';

/**
 * Reads a form that may contain files for the text of an issue. The files are stored and the field `body` links to
 * them, so that a form that is shown again keeps them. A form without files may have any form encoding. It runs after
 * access was decided (security B05).
 * @param kind the kind of text that the files belong to
 */
export function readFormWithAttachments(
  deps: Pick<WebDeps, 'issues'>,
  kind: 'ISSUE' | 'PULL',
  maxFormBytes?: number,
): Middleware {
  const readPlain = readForm(maxFormBytes);
  return async (ctx, next) => {
    if (!ctx.is('multipart/form-data')) return readPlain(ctx, next);
    // Bodies from anonymous clients are not read.
    if (ctx.state.identity.person === null) throw unauthenticated('sign_in', 'Sign in first.');
    try {
      const files: AttachedFile[] = [];
      const limits = {
        files: maxFiles,
        fileBytes: deps.issues.attachmentBytes,
        fields: maxFields,
        fieldBytes: maxFieldBytes,
      };
      const { fields, failure } = await readMultipart(ctx.req, limits, async ({ field, fileName, content }) => {
        if (field === fileField) files.push(await store(deps, ctx, { kind, name: fileName, content }));
        else content.resume();
      });
      if (failure !== null && !isDomainError(failure)) throw failure;
      if (files.length > 0) fields['body'] = [withFiles(fields['body']?.[0] ?? '', files)];
      ctx.state.form = createForm(fields);
      ctx.state.takeFiles = () => {
        if (failure !== null) throw failure;
        return files;
      };
      await next();
    } finally {
      discardBody(ctx.req);
    }
  };
}

async function store(
  { issues }: Pick<WebDeps, 'issues'>,
  ctx: Context,
  file: { kind: 'ISSUE' | 'PULL'; name: string; content: AsyncIterable<Uint8Array> },
): Promise<AttachedFile> {
  const { owner, name: repository } = ctx.state.found!.canonical;
  const at = { owner, name: repository };
  const attachment = await issues.addAttachment(ctx.state.identity.viewer, at, file);
  return {
    name: attachment.name,
    path: attachmentPath(at, attachment.id),
    markdown: attachmentMarkdown(attachment, at),
  };
}

/** The text, followed by links to its files in a separate paragraph. */
function withFiles(text: string, files: readonly AttachedFile[]): string {
  const shown = files.map(({ markdown }) => markdown).join('\n');
  return text.trim() === '' ? shown : `${text.replace(/\s+$/, '')}\n\n${shown}`;
}

/**
 * Reads a form that may contain files for a release, in the field `files`. The files are stored as they arrive; those
 * that the page does not attach to a release are deleted.
 */
export function readFormWithReleaseFiles({ releases }: Pick<WebDeps, 'releases'>, maxFormBytes?: number): Middleware {
  const readPlain = readForm(maxFormBytes);
  return async (ctx, next) => {
    if (!ctx.is('multipart/form-data')) return readPlain(ctx, next);
    const received: PendingFile[] = [];
    try {
      const { viewer } = ctx.state.identity;
      const { fields, failure } = await readMultipart(
        ctx.req,
        {
          files: maxFiles,
          fileBytes: releases.files.maxBytes,
          fields: maxFields,
          fieldBytes: maxFieldBytes,
          deadlineMs: releaseUploadMs,
        },
        async ({ field, fileName: name, content }) => {
          if (field !== fileField) return void content.resume();
          received.push(await releases.files.receive(viewer, ctx.state.found!.canonical, { name, content }));
        },
      );
      if (failure !== null && !isDomainError(failure)) throw failure;
      ctx.state.form = createForm(fields);
      ctx.state.takeReleaseFiles = () => {
        if (failure !== null) throw failure;
        return received;
      };
      await next();
    } finally {
      discardBody(ctx.req);
      await releases.files.discard(received);
    }
  };
}
