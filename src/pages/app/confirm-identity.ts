import type { WebDeps } from '../../web/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { translateRefusal } from '../../translation/index.ts';
import { statusOfRefusal } from './map-errors.ts';
import { page, seeOther, type PageReply } from './reply.ts';
import type { Page, PageHandler, PersonContext } from './request-context.ts';
import type { FormRefusal } from './submit-form.ts';

/**
 * Whether a route asks its person to prove again who they are, when the last confirmation is too old.
 *
 * - `required`: it deletes, transfers, or changes what signs the person in
 * - `in-form`: its form asks for the password by itself; who has none is asked here
 */
const confirmations = ['required', 'in-form'] as const;
export type Confirmation = (typeof confirmations)[number];

/** The fields of the confirming page; every other field is one of the form that waits. */
const passwordField = 'confirm_password';
const passkeyField = 'confirm_passkey';
const ownFields = [passwordField, passkeyField];

type Deps = Pick<WebDeps, 'accounts' | 'config' | 'pendingForms' | 'singleSignOn'>;

/** How this person can prove who they are; nothing of it where all they have is this session. */
interface Proofs {
  password: boolean;
  /** What the script asks the browser for, as JSON; null for who has no passkey. */
  passkey: string | null;
  providers: { title: string; url: string }[];
}

async function proofsOf({ person, session }: PersonContext, deps: Deps, token: string | null): Promise<Proofs> {
  const { accounts, config, singleSignOn } = deps;
  const [hasPassword, identities, passkeys] = await Promise.all([
    accounts.hasPassword(person.id),
    accounts.listIdentities(person.id),
    accounts.passkeys.isAvailable ? accounts.passkeys.list(person.id) : [],
  ]);
  const passkey =
    passkeys.length === 0 ? null : JSON.stringify(await accounts.passkeys.askFor(bindingOf(session), person.id));
  const linked = new Set(identities.map(({ issuer }) => issuer));
  const providers =
    token === null
      ? []
      : singleSignOn.providers
          .filter(({ issuer }) => linked.has(issuer))
          .map(({ name, title }) => ({ title, url: `/login/oidc/${name}?confirm=${token}` }));
  const others = providers.length + passkeys.length;
  return { password: hasPassword && (config.accounts.passwordSignIn || others === 0), passkey, providers };
}

async function confirmPage(context: PersonContext, deps: Deps, refusal: FormRefusal | null): Promise<PageReply> {
  const { path, query, form, session } = context;
  const action = query.size === 0 ? path : `${path}?${query}`;
  const fields = form.entries().filter(([name]) => !ownFields.includes(name));
  const token =
    deps.singleSignOn.providers.length === 0 ? null : await deps.pendingForms.store(session.id, { action, fields });
  const proofs = await proofsOf(context, deps, token);
  return page(
    'app/confirm-identity',
    { action, fields, proofs, refusal, isConfirmed: false },
    { status: 403, showsSecret: true },
  );
}

/** An answer of a passkey is for this session, and for confirming. */
const bindingOf = ({ id }: PersonContext['session']) => ({ purpose: 'confirm', holder: id }) as const;

/** Confirms with the password, or the answer of a passkey, that came with the form. */
async function confirm(context: PersonContext, { accounts }: Deps): Promise<FormRefusal | null> {
  const { person, session, address, form } = context;
  try {
    if (form.text(passkeyField) === '')
      await accounts.confirmWithPassword(person.id, session.id, { password: form.text(passwordField), address });
    else {
      await accounts.passkeys.verify(bindingOf(session), person.id, form.text(passkeyField));
      await accounts.confirmSession(person.id, session.id);
    }
    return null;
  } catch (error) {
    if (!isDomainError(error) || ![422, 429].includes(statusOfRefusal(error))) throw error;
    return { message: translateRefusal(error), field: error.reason === 'wrong_password' ? passwordField : null };
  }
}

async function mayActNow(confirmation: Confirmation, context: PersonContext, { accounts }: Deps): Promise<boolean> {
  if (accounts.isRecentlyConfirmed(context.session)) return true;
  return confirmation === 'in-form' && (await accounts.hasPassword(context.person.id));
}

/**
 * Puts the page "Confirm it is you" before a dangerous act. It keeps the fields of the form, and its own form goes to
 * the same address with them, so that the act follows the right password without another step and without a script.
 */
export function withConfirmation(route: { page: unknown; confirmation?: Confirmation }): PageHandler {
  const { confirmation } = route;
  const act = route.page as PageHandler;
  if (confirmation === undefined) return act;
  return async (request, deps) => {
    const context = request as unknown as PersonContext;
    if (await mayActNow(confirmation, context, deps)) return act(request, deps);
    if (ownFields.every((name) => request.form.text(name) === '')) return confirmPage(context, deps, null);
    const refusal = await confirm(context, deps);
    if (refusal !== null) return confirmPage(context, deps, refusal);
    return act(request, deps);
  };
}

/** `/login/confirm/:token`, after a proof at a provider: the form that waits is one click away. */
export const continueForm: Page<PersonContext, Deps> = async ({ params, session }, { pendingForms }) => {
  const waiting = await pendingForms.find(session.id, params.token ?? '');
  if (waiting === null) return seeOther('/?done=confirmed');
  const { action, fields } = waiting;
  const none: Proofs = { password: false, passkey: null, providers: [] };
  return page(
    'app/confirm-identity',
    { action, fields, proofs: none, refusal: null, isConfirmed: true },
    { showsSecret: true },
  );
};
