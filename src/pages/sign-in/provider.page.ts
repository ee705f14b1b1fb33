import { isDomainError } from '../../kernel/index.ts';
import { endedProviderCookie, providerCookie, returnTarget } from '../../http/index.ts';
import type { ProviderAccount, SignInRequest } from '../../single-sign-on/index.ts';
import { translateRefusal, t } from '../../translation/index.ts';
import { statusOfRefusal } from '../app/map-errors.ts';
import { withFlashMessage } from '../app/flash-messages.view.ts';
import { page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import { sessionOrigin, type Page, type RequestContext } from '../app/request-context.ts';
import { replyToSignIn } from './sign-in.reply.ts';
import type { SignInDeps } from './deps.ts';

/** The error of a sign-in at a provider, with the next step. */
function problemPage({ person }: RequestContext, status: number, message: string): PageReply {
  return page('sign-in/provider', { message, unknown: null, isSignedIn: person !== null }, { status });
}

/** A refusal has its own page: the browser comes from another site, and no form can be shown again. */
async function withProblemPage(context: RequestContext, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    const status = isDomainError(error) ? statusOfRefusal(error) : 500;
    if (!isDomainError(error) || ![403, 409, 422, 503].includes(status)) throw error;
    return problemPage(context, status, translateRefusal(error));
  }
}

/**
 * `/login/oidc/:provider` redirects the browser to a provider: to sign in, or with `?confirm=` to confirm the action of
 * a pending form. It changes nothing here, so any page may link to it.
 */
export const goToProvider: Page<RequestContext, SignInDeps> = async (context, { singleSignOn, pendingForms }) => {
  const { params, query, origin, session } = context;
  const token = query.get('confirm');
  const next = returnTarget(query.get('next'));
  if (session !== null && (token === null || (await pendingForms.find(session.id, token)) === null))
    return seeOther(next);
  const [purpose, target] =
    session === null || token === null
      ? (['sign-in', next] as const)
      : (['confirm', `/login/confirm/${encodeURIComponent(token)}`] as const);
  return withProblemPage(context, async () => {
    const { url, sealed, ttlMs } = await singleSignOn.begin(params.provider ?? '', {
      purpose,
      next: target,
      sessionId: session?.id ?? null,
      origin,
    });
    return seeOther(url, { cookies: [providerCookie(origin, sealed, ttlMs)] });
  });
};

/** `/login/oidc/:provider/callback`, to which a provider redirects the browser with its response. */
export const returnFromProvider: Page<RequestContext, SignInDeps> = (context, deps) =>
  withProblemPage(context, async () => {
    const { params, query, providerState } = context;
    const { request, account } = await deps.singleSignOn.finish(params.provider ?? '', {
      sealed: providerState,
      parameters: query,
    });
    if (request.purpose === 'sign-in') return signIn(context, deps, account, request.next);
    return prove(context, deps, account, request);
  });

async function signIn(
  context: RequestContext,
  { accounts, config, singleSignOn }: SignInDeps,
  account: ProviderAccount,
  next: string,
): Promise<Reply> {
  const { origin } = context;
  const result = await singleSignOn.signIn(account, next);
  if (result.kind === 'unknown') {
    if (result.sealed !== null)
      return seeOther('/login/sign-up', { cookies: [providerCookie(origin, result.sealed, result.ttlMs)] });
    const unknown = { label: account.label, provider: result.title };
    return page('sign-in/provider', { message: null, unknown, isSignedIn: false }, { status: 403 });
  }
  const { person, skipsSecondFactor } = result;
  const signedIn = await accounts.completeSignIn(person.id, {
    method: 'provider',
    skipsSecondFactor,
    ...sessionOrigin(context),
  });
  return replyToSignIn(context, config, signedIn, next, [endedProviderCookie(origin)]);
}

/** The response to a request that a signed-in user started: valid only in the session that started it. */
async function prove(
  context: RequestContext,
  { accounts, singleSignOn }: SignInDeps,
  account: ProviderAccount,
  { purpose, next, sessionId }: SignInRequest,
): Promise<Reply> {
  const { person, session, origin } = context;
  const cookies = [endedProviderCookie(origin)];
  if (person === null || session === null || session.id !== sessionId)
    return problemPage(context, 422, t('sign_in.provider.you_have_been_signed_out_sign'));
  if (purpose === 'link') {
    await singleSignOn.link(person.id, account);
    return seeOther(withFlashMessage('/settings/linked-accounts', 'account-linked'), { cookies });
  }
  await singleSignOn.proves(person.id, account);
  await accounts.confirmSession(person.id, session.id);
  return seeOther(next, { cookies });
}

/** `/logout/oidc/:provider`, after a sign-out here: ends the session at the provider, if it supports that. */
export const signOutAtProvider: Page<RequestContext, SignInDeps> = (context, { singleSignOn }) =>
  withProblemPage(context, async () => {
    const { params, origin } = context;
    const url = await singleSignOn.signOutUrl(params.provider ?? '', `${origin}/login`);
    return seeOther(url ?? withFlashMessage('/login', 'provider-session-stays'));
  });
