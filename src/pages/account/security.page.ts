import { t } from '../../translation/index.ts';
import { page, seeOther, type PageReply, type Reply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { viewTime } from '../app/times.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

const here = '/settings/security';

async function securityPage(
  { person, query }: PersonContext,
  { accounts, clock }: AccountDeps,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const [state, passkeys] = await Promise.all([
    accounts.secondFactor.stateOf(person.id),
    accounts.passkeys.list(person.id),
  ]);
  const now = clock.now();
  return page('account/security', {
    isMissing: accounts.secondFactor.isMissing(person),
    hasFactor: person.secondFactorAt !== null,
    app: state.totpAt === null ? null : viewTime(state.totpAt, now),
    canUsePasskeys: accounts.passkeys.isAvailable,
    passkeys: passkeys.map(({ id, name, isSynced, createdAt, lastUsedAt }) => ({
      id,
      name,
      isSynced,
      added: viewTime(createdAt, now),
      lastUsed: lastUsedAt === null ? null : viewTime(lastUsedAt, now),
    })),
    codesLeft: state.recoveryCodesLeft,
    refusal,
    notice: viewFlashMessage(query),
  });
}

/** `/settings/security`: the second factors of a user. */
export const showSecurity: Page<PersonContext, AccountDeps> = (context, deps) => securityPage(context, deps, null);

/** Runs a change of the page, and shows the reason of a refusal. */
const changing = (context: PersonContext, deps: AccountDeps, change: () => Promise<Reply>): Promise<Reply> =>
  submitForm(change, (refusal) => securityPage(context, deps, refusal));

export const removeAuthenticatorApp: Page<PersonContext, AccountDeps> = (context, deps) =>
  changing(context, deps, async () => {
    await deps.accounts.secondFactor.disableTotp(context.person.id);
    return seeOther(withFlashMessage(here, 'app-removed'));
  });

export const removePasskey: Page<PersonContext, AccountDeps> = (context, deps) =>
  changing(context, deps, async () => {
    await deps.accounts.passkeys.remove(context.person.id, context.params.id ?? '');
    return seeOther(withFlashMessage(here, 'passkey-removed'));
  });

/** Creates new recovery codes, and redirects to the page that shows them once. */
export const newRecoveryCodes: Page<PersonContext, AccountDeps> = (context, deps) =>
  changing(context, deps, async () => {
    const codes = await deps.accounts.secondFactor.newRecoveryCodes(context.person.id);
    return redirectToRecoveryCodes(deps, context.person.id, codes);
  });

/** Redirects to the page that shows recovery codes once. */
export const redirectToRecoveryCodes = async (
  { oneTimeSecrets }: AccountDeps,
  personId: string,
  codes: readonly string[],
): Promise<Reply> =>
  seeOther(
    `${here}/recovery-codes/${await oneTimeSecrets.store(personId, { name: t('account.security.recovery_codes'), value: codes.join('\n') })}`,
  );

/** The only page that ever shows recovery codes; a reload redirects to the settings. */
export const showRecoveryCodes: Page<PersonContext, AccountDeps> = async ({ person, params }, { oneTimeSecrets }) => {
  const secret = await oneTimeSecrets.take(person.id, params.oneTimeToken ?? '');
  if (secret === null) return seeOther(withFlashMessage(here, 'recovery-codes-gone'));
  return page('account/recovery-codes', { codes: secret.value.split('\n') }, { showsSecret: true });
};
