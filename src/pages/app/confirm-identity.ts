import type { WebDeps } from '../../web/index.ts';
import { isDomainError } from '../../kernel/index.ts';
import { translateRefusal } from '../../translation/index.ts';
import { statusOfRefusal } from './map-errors.ts';
import { page, seeOther, type PageReply } from './reply.ts';
import type { Page, PageHandler, PersonContext } from './request-context.ts';
import type { FormRefusal } from './submit-form.ts';

/**
 * Whether a route requires a new proof of identity when the last confirmation is too old.
 *
 * - `required`: it deletes, transfers, or changes how the user signs in
 * - `in-form`: its form contains the password; users without a password confirm here
 */
const confirmations = ['required', 'in-form'] as const;
export type Confirmation = (typeof confirmations)[number];

/** The fields of the confirming page; every other field belongs to the pending form. */
const passwordField = 'confirm_password';
const passkeyField = 'confirm_passkey';
const ownFields = [passwordField, passkeyField];

type Deps = Pick<WebDeps, 'accounts' | 'config' | 'pendingForms' | 'singleSignOn'>;

/** The ways in which this user can prove their identity; all empty for a user who has nothing but this session. */
interface Proofs {
  password: boolean;
  /** The WebAuthn request options for the script, as JSON; null for a user without a passkey. */
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

/** A passkey response is valid for this session and this purpose only. */
const bindingOf = ({ id }: PersonContext['session']) => ({ purpose: 'confirm', holder: id }) as const;

/** Confirms with the password or the passkey response in the form. */
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
 * Shows the page "Confirm it is you" before a dangerous action. It keeps the fields of the form and submits them to the
 * same URL, so that the action follows the right password without another step and without a script.
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

/** `/login/confirm/:token`, after a confirmation at a provider: the pending form is one click away. */
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
