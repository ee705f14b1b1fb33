import { z } from 'zod';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';
import { onePullAt, pullAt } from './parts.ts';
import { stackedPull } from '../shapes/pulls-schemas.ts';

export const getPullStack = operation({
  tag: 'Pull requests',
  access: 'repository:read',
  method: 'GET',
  status: 200,
  cost: 'rows',
  id: 'getPullStack',
  path: `${onePullAt}/stack`,
  summary: 'List a pull request’s stack: its dependencies and dependents',
  description: 'Ordered by merge order; empty if the pull request is not part of a stack.',
  response: z.array(stackedPull),
  async run({ viewer, found, params, deps }) {
    const stack = await deps.pulls.stack(viewer, pullAt(found, params.number));
    return json(
      stack.map(({ number, title, state, isDraft, headOid, below, isBehind }) => ({
        number,
        title,
        state: state.toLowerCase() as 'open' | 'closed' | 'merged',
        draft: isDraft,
        head_sha: headOid,
        needs: below,
        behind: isBehind,
      })),
    );
  },
});
