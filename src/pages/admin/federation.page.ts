import { invalid } from '../../kernel/index.ts';
import { page, seeOther, type PageReply } from '../app/reply.ts';
import { submitForm, type FormRefusal } from '../app/submit-form.ts';
import { viewFlashMessage, withFlashMessage } from '../app/flash-messages.view.ts';
import { choosePeers, viewPeer } from './peers.view.ts';
import type { Page, PersonContext } from '../app/request-context.ts';
import type { AdminDeps } from './deps.ts';
import { translateTerm } from '../../translation/index.ts';

const here = '/admin/federation';

interface Extra {
  refusal?: FormRefusal | null;
  /** The result of testing a peer. */
  test?: { host: string; checks: { name: string; ok: boolean | null; words: string }[] };
  /** A pairing code that waits for the administrator's confirmation. */
  pairing?: { host: string; code: string };
}

async function federationPage(
  { query, form }: PersonContext,
  { federation, clock }: AdminDeps,
  extra: Extra = {},
): Promise<PageReply> {
  const now = clock.now();
  const [peers, counts, originChange] = await Promise.all([
    federation.listPeers(),
    federation.countDeliveries(),
    federation.originChange(),
  ]);
  const { shown, left } = choosePeers(peers.filter(({ askedAt }) => askedAt === null));
  return page('admin/federation', {
    isOpen: federation.openFollowers,
    left,
    isOn: federation.isOperational,
    obstacles: federation.obstacles.map(translateTerm),
    origin: federation.origin,
    originChange,
    peers: shown.map((peer) => viewPeer(peer, now)),
    requesting: peers.filter(({ askedAt }) => askedAt !== null).map((peer) => viewPeer(peer, now)),
    counts,
    form: { code: form.text('code') },
    refusal: extra.refusal ?? null,
    test: extra.test ?? null,
    pairing: extra.pairing ?? null,
    notice: viewFlashMessage(query),
  });
}

/** A form of this page: a refusal is shown at the top. */
const acting = (context: PersonContext, deps: AdminDeps, notice: string, act: () => Promise<unknown>) =>
  submitForm(
    async () => {
      await act();
      return seeOther(withFlashMessage(here, notice));
    },
    (refusal) => federationPage(context, deps, { refusal }),
  );

/** The state of federation and of the other servers. */
export const showFederation: Page<PersonContext, AdminDeps> = (context, deps) => federationPage(context, deps);

/** Field `host`. Tests the other server step by step; the response is this page with the results. */
export const testPeer: Page<PersonContext, AdminDeps> = async (context, deps) => {
  const host = context.form.text('host').trim();
  return submitForm(
    async () => {
      if (!URL.canParse(`https://${host}`))
        throw invalid('invalid_host', 'This is not a host name.', { field: 'host' });
      return federationPage(context, deps, { test: { host, checks: await deps.federation.checkPeer(host) } });
    },
    (refusal) => federationPage(context, deps, { refusal }),
  );
};

/** Creates a pairing code and redirects to the page that shows it once. */
export const invitePeer: Page<PersonContext, AdminDeps> = async (context, deps) =>
  submitForm(
    async () => {
      const { code } = await deps.federation.invitePeer();
      return seeOther(
        `${here}/code/${await deps.oneTimeSecrets.store(context.person.id, { name: 'pairing', value: code })}`,
      );
    },
    (refusal) => federationPage(context, deps, { refusal }),
  );

export const showPairingCode: Page<PersonContext, AdminDeps> = async ({ person, params }, { oneTimeSecrets }) => {
  const secret = await oneTimeSecrets.take(person.id, params.oneTimeToken ?? '');
  if (secret === null) return seeOther(withFlashMessage(here, 'pairing-code-gone'));
  return page('admin/pairing-code', { code: secret.value }, { showsSecret: true });
};

/** Field `code`; `confirm` once the administrator has seen which server it belongs to. */
export const acceptPeer: Page<PersonContext, AdminDeps> = (context, deps) => {
  const code = context.form.text('code').trim();
  return submitForm(
    async () => {
      const host = deps.federation.hostOfCode(code);
      if (context.form.text('confirm') === '') return federationPage(context, deps, { pairing: { host, code } });
      await deps.federation.acceptInvite(code);
      return seeOther(withFlashMessage(here, 'peer-paired'));
    },
    (refusal) => federationPage(context, deps, { refusal: { ...refusal, field: refusal.field ?? 'code' } }),
  );
};

/** Field `host` of a server that sent a pairing request with a code. */
export const confirmPeer: Page<PersonContext, AdminDeps> = (context, deps) =>
  acting(context, deps, 'peer-paired', () => deps.federation.confirmPeer(context.form.text('host')));

/** Field `host`. Ends a pairing, or declines a request for one. */
export const removePeer: Page<PersonContext, AdminDeps> = (context, deps) =>
  acting(context, deps, 'peer-removed', () => deps.federation.removePeer(context.form.text('host')));
