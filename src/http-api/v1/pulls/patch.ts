import { pullLimits } from '../../../pulls/index.ts';
import { operation } from '../../operation.ts';
import { created } from '../../responses.ts';
import { repositoryAt } from '../shapes/issues-parts.ts';
import { pullsAt, showPull } from './parts.ts';
import { proposedPatch, pullRequest } from '../shapes/pulls-schemas.ts';

export const openPullFromPatch = operation({
  tag: 'Pull requests',
  access: 'repository:read',
  scope: 'write',
  id: 'openPullFromPatch',
  method: 'POST',
  path: `${pullsAt}/patch`,
  summary: 'Open a pull request from a patch, or add a round to one',
  description:
    'Every email from git format-patch becomes a commit with its author and date. The commits are applied to the patch’s base-commit if the base branch contains it, otherwise to the tip of the base branch. A patch that does not apply changes nothing; the 409 response contains the file and line.',
  cost: 'change',
  status: 201,
  refuses: [409],
  // Base64, or text with every line feed escaped.
  maxJsonBytes: pullLimits.proposedPatchBytes * 2,
  body: proposedPatch,
  response: pullRequest,
  async run(call) {
    const { viewer, found, body, deps } = call;
    const at = repositoryAt(found);
    const { number } = await deps.pulls.proposePatch(viewer, at, {
      patch: Buffer.from(body.patch, body.encoding === 'base64' ? 'base64' : 'utf8'),
      base: body.base ?? undefined,
      title: body.title ?? undefined,
      body: body.body ?? undefined,
      isDraft: body.draft ?? undefined,
      pull: body.pull ?? undefined,
    });
    return created(await showPull(call, { ...at, number }), `/repos/${at.owner}/${at.name}/pulls/${number}`);
  },
});
