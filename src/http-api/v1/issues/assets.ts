import { z } from 'zod';
import { attachmentPayload } from '../../../gitea-shapes/index.ts';
import { attachment } from '../../../gitea-shapes/schemas.ts';
import type { Attachment, IssueAt } from '../../../issues/index.ts';
import { attachmentMarkdown } from '../../../issues/index.ts';
import type { WebDeps } from '../../../web/index.ts';
import { operation } from '../../operation.ts';
import type { AnyCall, Operation } from '../../operation.ts';
import type { UploadedFile } from '../../uploaded-file.ts';
import { rowNamed } from '../shapes/ids.ts';
import { findComment, oneCommentAt } from './comments.ts';
import { issueAt, oneIssueAt } from '../shapes/issues-parts.ts';
import { json, noContent } from '../../responses.ts';

const asset = z.object({
  ...attachment.shape,
  type: z.literal('attachment'),
  markdown: z.string().meta({ description: 'Markdown that embeds or links the file.' }),
});

function showAsset(
  file: Attachment,
  repository: { owner: string; name: string },
  origin: string,
): z.output<typeof asset> {
  return {
    ...attachmentPayload(file, repository, origin),
    type: 'attachment',
    markdown: attachmentMarkdown(file, repository),
  };
}

/** The text that contains the files: of an issue, or of a comment. */
interface Text {
  at: IssueAt;
  position: number;
}

/** The UUID of an attachment whose integer id, as in Gitea's clients, is in the path; any other text unchanged. */
async function idOf({ viewer, deps, params }: AnyCall, { at, position }: Text): Promise<string> {
  const id = params['id'] ?? '';
  if (!/^\d{1,16}$/.test(id)) return id;
  return rowNamed(await deps.issues.listAttachments(viewer, at, position), id)?.id ?? id;
}

/** Files of an issue and of a comment: the two texts are found differently. */
function assetsOf(
  word: 'Issue' | 'Comment',
  textAt: typeof oneIssueAt | typeof oneCommentAt,
  textOf: (call: AnyCall) => Promise<Text>,
): Operation[] {
  const list = `${textAt}/assets` as const;
  const one = `${list}/{id}` as const;
  const of = word === 'Issue' ? 'an issue' : 'a comment';
  const common = { tag: 'Issues', access: 'repository:read', cost: 'rows' } as const;
  const write = { ...common, scope: 'write' } as const;
  const anyCall = (call: unknown) => call as AnyCall;
  const show = ({ found, origin }: AnyCall, file: Attachment) => showAsset(file, found!.canonical, origin);
  return [
    operation({
      ...common,
      id: `list${word}Assets`,
      method: 'GET',
      path: list,
      summary: `List the attachments of ${of}`,
      status: 200,
      response: z.array(asset),
      async run(given) {
        const call = anyCall(given);
        const { at, position } = await textOf(call);
        const files = await call.deps.issues.listAttachments(call.viewer, at, position);
        return json(files.map((file) => show(call, file)));
      },
    }),
    operation({
      ...write,
      id: `add${word}Asset`,
      method: 'POST',
      path: list,
      summary: `Add an attachment to ${of}`,
      description:
        'Send a form (multipart/form-data) with the file in the field `attachment`. Hearth stores the file and appends a line that shows it to the text, which requires permission to edit the text. Image metadata is removed.',
      cost: 'upload',
      status: 201,
      body: 'file',
      query: z.object({
        name: z.string().max(255).optional().meta({ description: 'Overrides the name in the form.' }),
      }),
      response: asset,
      async run(given) {
        const call = anyCall(given);
        const { at, position } = await textOf(call);
        const { issues }: Pick<WebDeps, 'issues'> = call.deps;
        const file = await (call.body as UploadedFile).receive(
          { maxBytes: issues.attachmentBytes },
          ({ fileName, content }) =>
            issues.attach(call.viewer, at, { name: given.query.name ?? fileName, content }, position),
        );
        return json(show(call, file));
      },
    }),
    operation({
      ...common,
      id: `get${word}Asset`,
      method: 'GET',
      path: one,
      summary: 'Get an attachment',
      status: 200,
      response: asset,
      async run(given) {
        const call = anyCall(given);
        const text = await textOf(call);
        const id = await idOf(call, text);
        const found = await call.deps.issues.findAttachmentOf(call.viewer, text.at, id, text.position);
        return json(show(call, found.attachment));
      },
    }),
    operation({
      ...write,
      id: `edit${word}Asset`,
      method: 'PATCH',
      path: one,
      summary: 'Rename an attachment; the text of existing links remains unchanged',
      status: 201,
      body: z.object({ name: z.string().max(255) }),
      response: asset,
      async run(given) {
        const call = anyCall(given);
        const text = await textOf(call);
        const change = { id: await idOf(call, text), name: given.body.name, position: text.position };
        return json(show(call, await call.deps.issues.renameAttachment(call.viewer, text.at, change)));
      },
    }),
    operation({
      ...write,
      id: `remove${word}Asset`,
      method: 'DELETE',
      path: one,
      summary: 'Remove an attachment, which breaks links to it',
      status: 204,
      async run(given) {
        const call = anyCall(given);
        const text = await textOf(call);
        await call.deps.issues.removeAttachment(call.viewer, text.at, await idOf(call, text), text.position);
        return noContent();
      },
    }),
  ];
}

export const issueAssetOperations = [
  ...assetsOf('Issue', oneIssueAt, async ({ found, params }) => ({
    at: issueAt(found!, params['number'] ?? ''),
    position: 0,
  })),
  ...assetsOf('Comment', oneCommentAt, async (call) => {
    const { at, entry } = await findComment({
      ...call,
      found: call.found!,
      params: { comment: call.params['comment'] ?? '' },
    });
    return { at, position: entry.position };
  }),
];
