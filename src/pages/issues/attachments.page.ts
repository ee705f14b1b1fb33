import { attachmentPath, isShownInline } from '../../issues/index.ts';
import { isRefusal, notFound } from '../../kernel/index.ts';
import { translateRefusal, t } from '../../translation/index.ts';
import { statusOfRefusal } from '../app/map-errors.ts';
import { content, movedTo, type Reply } from '../app/reply.ts';
import type { Page, RepositoryContext } from '../app/request-context.ts';
import { sendFile } from '../app/send-file.ts';
import type { IssuesDeps } from './deps.ts';

/**
 * `B/attachments/{id}`: a file of an issue, for viewers who can see its text. It moves together with its issue: the old
 * URL redirects. Images are displayed, all other files are downloaded, and each has a sandbox CSP (security C03).
 */
export const showAttachment: Page<RepositoryContext, IssuesDeps> = async (
  { viewer, params, range, ifRange },
  { issues },
): Promise<Reply> => {
  // The permission of a job to read code is not one to read issues.
  if (viewer.kind === 'task') throw notFound();
  const { owner = '', name = '', id = '' } = params;
  const { attachment, repository } = await issues.findAttachment(viewer, id);
  if (owner !== repository.owner || name !== repository.name) return movedTo(attachmentPath(repository, id));
  return sendFile({ range, ifRange }, { ...attachment, isInline: isShownInline(attachment) }, async (part) => {
    return (await issues.readAttachment(attachment, part)).stream;
  });
};

/**
 * `POST B/issues/attachments` and `B/pulls/attachments`, for pasted and dropped files: JSON with the Markdown that
 * shows them.
 */
export const uploadAttachments: Page<RepositoryContext, IssuesDeps> = ({ takeFiles }): Reply => {
  const json = (status: number, value: unknown): Reply =>
    content('application/json; charset=utf-8', JSON.stringify(value), {
      status,
      headers: { 'Cache-Control': 'private, no-store' },
    });
  try {
    const files = takeFiles();
    if (files.length === 0) return json(422, { message: t('issues.attachments.send_a_file_in_the_field') });
    return json(201, { files });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return json(statusOfRefusal(error), { message: translateRefusal(error) });
  }
};
