import type { Scope } from '../../access/index.ts';
import { oneOf } from '../../http/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewAccessToken } from './access-token.view.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

const accesses = ['read', 'write', 'admin'] as const satisfies readonly Scope[];
const lifetimes = ['90', '30', '365', 'never'] as const;
const dayMs = 24 * 60 * 60 * 1000;
const maxOffered = 100;

interface TokenForm {
  name: string;
  access: Scope;
  expires_in: (typeof lifetimes)[number];
  /** `all`, or ids of repositories. */
  repos: string[];
}

const emptyTokenForm: TokenForm = { name: '', access: 'write', expires_in: '90', repos: ['all'] };

const ownRepositories = ({ person, viewer }: PersonContext, { repositories }: AccountDeps) =>
  repositories.list(viewer, { owner: { kind: 'user', id: person.id }, limit: maxOffered });

async function tokensPage(
  context: PersonContext,
  deps: AccountDeps,
  form: TokenForm,
  refusal: FormRefusal | null,
): Promise<PageReply> {
  const [tokens, own] = await Promise.all([
    deps.accounts.listTokens(context.person.id),
    ownRepositories(context, deps),
  ]);
  return page('account/access-tokens', {
    tokens: tokens.map((token) => viewAccessToken(token, deps.clock.now())),
    repositories: own.repositories.map(({ id, name }) => ({ id, name })),
    form,
    refusal,
    notice: viewFlashMessage(context.query),
  });
}

export const showTokens: Page<PersonContext, AccountDeps> = (context, deps) =>
  tokensPage(context, deps, emptyTokenForm, null);

/** The choice "only these" sends an empty value beside the chosen ids; a client that omits the field means all. */
function readTokenForm({ form }: PersonContext): TokenForm {
  const repos = form.all('repos');
  return {
    name: form.text('name'),
    access: oneOf(accesses, form.text('access')),
    expires_in: oneOf(lifetimes, form.text('expires_in')),
    repos: repos.length === 0 || repos.includes('all') ? ['all'] : repos.filter((id) => id !== ''),
  };
}

/** Only ids that the page offered are accepted, so a token cannot probe whether other ids exist. */
async function reachOf(context: PersonContext, deps: AccountDeps, repos: readonly string[]): Promise<string[] | null> {
  if (repos.includes('all')) return null;
  const own = await ownRepositories(context, deps);
  return own.repositories.map(({ id }) => id).filter((id) => repos.includes(id));
}

/**
 * Fields `name`, `access`, `expires_in` (days or `never`), `repos` (`all` or ids).
 * Responds with a redirect to the page that shows the token once.
 */
export const addToken: Page<PersonContext, AccountDeps> = (context, deps) => {
  const { person } = context;
  const { accounts, clock, oneTimeSecrets } = deps;
  const input = readTokenForm(context);
  return submitForm(
    async () => {
      const { token, secret } = await accounts.addToken(person.id, {
        name: input.name,
        access: input.access,
        repositoryIds: await reachOf(context, deps, input.repos),
        expiresAt: input.expires_in === 'never' ? null : clock.now() + Number(input.expires_in) * dayMs,
      });
      return seeOther(
        `/settings/tokens/new/${await oneTimeSecrets.store(person.id, { name: token.name, value: secret })}`,
      );
    },
    (refusal) => tokensPage(context, deps, input, refusal),
  );
};

/** The only page that ever shows the token; a reload redirects to the list. */
export const showNewToken: Page<PersonContext, AccountDeps> = async ({ person, params }, { oneTimeSecrets }) => {
  const secret = await oneTimeSecrets.take(person.id, params.oneTimeToken ?? '');
  if (secret === null) return seeOther(withFlashMessage('/settings/tokens', 'token-gone'));
  return page(
    'account/new-access-token',
    { name: secret.name, token: secret.value, username: person.username },
    { showsSecret: true },
  );
};

export const removeToken: Page<PersonContext, AccountDeps> = async ({ person, params }, { accounts }) => {
  await accounts.removeToken(person.id, params.id ?? '');
  return seeOther(withFlashMessage('/settings/tokens', 'token-removed'));
};
