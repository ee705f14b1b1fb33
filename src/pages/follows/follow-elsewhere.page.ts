import { notFound } from '../../kernel/index.ts';
import { page } from '../app/reply.ts';
import type { PageReply } from '../app/reply.ts';
import { submitForm } from '../app/submit-form.ts';
import type { FormRefusal } from '../app/submit-form.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { FollowsDeps } from './deps.ts';

interface Followed {
  path: string;
  uri: string;
  /** The handle to type into the search of another server. */
  handle: string;
}

/**
 * The object to follow: the page that the visitor came from. Throws `not_found` for hidden and absent objects alike.
 */
async function followedBy(path: string, { federation }: FollowsDeps): Promise<Followed> {
  const isPage = /^\/(?:repos\/[^/]+\/[^/]+|(?:users|orgs)\/[^/]+)$/.test(path);
  const uri = isPage ? await federation.publications.actorOfPage(path) : null;
  if (uri === null) throw notFound();
  const names = path.split('/').slice(2).map(decodeURIComponent);
  return { path, uri, handle: `${names.join('/')}@${new URL(federation.origin).host}` };
}

const formPage = (followed: Followed | null, handle: string, refusal: FormRefusal | null): PageReply =>
  page('follows/follow-elsewhere', { followed, form: { handle }, refusal, lead: null });

/**
 * `/following/elsewhere?path=/repos/alice/tool`: asks for the visitor's own handle; without a path it shows
 * instructions.
 */
export const showFollowElsewhere: Page<RequestContext, FollowsDeps> = async ({ query }, deps) => {
  const path = query.get('path');
  return formPage(path === null ? null : await followedBy(path, deps), '', null);
};

/**
 * Fields `handle` and `path`. The response links to the page of the visitor's own server, and does not redirect to it:
 * a handle from another person must not decide where the browser goes.
 */
export const followElsewhere: Page<RequestContext, FollowsDeps> = async (context, deps) => {
  const { form, address } = context;
  const followed = await followedBy(form.text('path'), deps);
  const handle = form.text('handle').trim();
  return submitForm(
    async () => {
      const lead = await deps.federation.findSubscribePage({ handle, uri: followed.uri, address });
      return page('follows/follow-elsewhere', { followed, form: { handle }, refusal: null, lead });
    },
    (refusal) => formPage(followed, handle, refusal),
  );
};
