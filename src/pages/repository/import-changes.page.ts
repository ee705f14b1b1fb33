import { notFound } from '../../kernel/index.ts';
import { content } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { RepositoryDeps } from './deps.ts';

/** The call of a webhook that a followed import has made at its source: the secret in its address is the credential. */
export const tellImport: Page<RequestContext, RepositoryDeps> = async ({ params }, { imports }) => {
  const [id, secret] = [params['import'], params['oneTimeToken']];
  if (id === undefined || secret === undefined) throw notFound();
  await imports.poke(id, secret);
  return content('text/plain; charset=utf-8', 'Taken.\n');
};
