import { z } from 'zod';
import { embedded } from '../../../embedded/index.ts';
import { json } from '../../responses.ts';
import { operation } from '../../operation.ts';

/** The version of Gitea whose shapes the issue operations have; its clients request it first. */
const giteaVersion = '1.26.0';

export const getVersion = operation({
  id: 'getVersion',
  method: 'GET',
  path: '/version',
  tag: 'Users',
  summary: 'Get the API version and the server version',
  description: 'Gitea clients compare the part before the plus sign.',
  access: 'anyone',
  cost: 'free',
  status: 200,
  response: z.strictObject({ version: z.string() }).meta({ id: 'Version' }),
  run: async () => json({ version: `${giteaVersion}+hearth-${embedded.version}` }),
});
