import { content } from '../app/reply.ts';
import type { Page, RequestContext } from '../app/request-context.ts';
import type { AccountDeps } from './deps.ts';

const asText = (text: string) =>
  content('text/plain; charset=utf-8', text, { headers: { 'Cache-Control': 'no-cache' } });

/** `/{handle}.keys`: the SSH keys that a user signs in with, as lines of `authorized_keys`. */
export const showPublicKeys: Page<RequestContext, AccountDeps> = async ({ params }, { accounts }) => {
  const person = await accounts.activePerson(params.username ?? '');
  return asText((await accounts.publicKeyLines(person.id)).map((line) => `${line}\n`).join(''));
};

/** `/{handle}.gpg`: the OpenPGP keys that a user signs with, in armour. */
export const showPublicGpgKeys: Page<RequestContext, AccountDeps> = async ({ params }, { accounts, signing }) => {
  const person = await accounts.activePerson(params.username ?? '');
  return asText((await signing.armoredKeys(person.id)).map((armored) => `${armored.trimEnd()}\n`).join(''));
};
