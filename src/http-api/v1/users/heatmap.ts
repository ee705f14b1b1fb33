import { z } from 'zod';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';

const dayMs = 86_400_000;
/** As on profiles. */
const shownDays = 366;

/** Daily contributions at Gitea's URL. */
export const getHeatmap = operation({
  id: 'getHeatmap',
  method: 'GET',
  path: '/users/{username}/heatmap',
  tag: 'Users',
  summary: 'Get a user’s commits per day over the last year in repositories visible to the caller',
  description: 'Counts commits on default branches. Days start at midnight UTC; days without commits are omitted.',
  access: 'anyone',
  cost: 'rows',
  status: 200,
  refuses: [404],
  response: z.array(
    z
      .strictObject({ timestamp: z.int().describe('Seconds since the Unix epoch'), contributions: z.int() })
      .meta({ id: 'UserHeatmapData' }),
  ),
  async run({ viewer, params, deps }) {
    const { id } = await deps.accounts.activePerson(params.username);
    const since = deps.clock.now() - shownDays * dayMs;
    const counts = await deps.repositories.pushes.countCommits(viewer, id, since);
    return json(
      [...counts]
        .sort(([one], [other]) => one - other)
        .map(([day, contributions]) => ({ timestamp: (day * dayMs) / 1000, contributions })),
    );
  },
});
