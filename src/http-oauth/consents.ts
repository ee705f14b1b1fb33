import type { InteractionModel, Provider } from 'oidc-provider';
import { notFound } from '../kernel/index.ts';
import type { Clock, Logger } from '../kernel/index.ts';
import { describeScopes } from '../oauth/index.ts';
import type { OAuth } from '../oauth/index.ts';
import type { Consents, ConsentRequest, DeviceRequest, PersonAsking } from '../oauth/index.ts';
import type { ProviderAt } from './provider.ts';

interface ConsentDeps {
  oauth: OAuth;
  clock: Clock;
  logger: Logger;
}

const gone = () => notFound('unknown_request', 'This request of an application has expired, or was answered.');
const isFromDevice = (text: string): string => text.toUpperCase().replace(/[^A-Z]/g, '');

/** What people decide on pages: whether an application may act for them, by its request or by the code of a device. */
export function createConsents(deps: ConsentDeps, providerNow: () => Promise<ProviderAt | null>): Consents {
  const provider = async (): Promise<Provider> => {
    const at = await providerNow();
    if (at === null) throw gone();
    return at.provider;
  };
  const nowS = (): number => Math.floor(deps.clock.now() / 1000);

  async function applicationOf(clientId: string) {
    const application = await deps.oauth.applications.find(clientId);
    if (application === null) throw gone();
    return application;
  }

  /** The request, for the person whose session it began in, and for nobody else. */
  async function interactionOf(uid: string, asking: PersonAsking): Promise<InteractionModel> {
    const { Interaction, Session } = await provider();
    const found = await Interaction.find(uid);
    const session = await Session.find(`of ${asking.sessionId}`);
    const isTheirs = found?.session?.accountId === asking.personId && found.session.uid === session?.uid;
    if (found === undefined || !isTheirs) throw gone();
    return found;
  }

  async function grantTo(
    model: { Grant: Provider['Grant'] },
    { clientId, personId, scope }: { clientId: string; personId: string; scope: string },
  ): Promise<string> {
    const present = await deps.oauth.grants.of(personId, clientId);
    const grant =
      (present === null ? undefined : await model.Grant.find(present)) ??
      new model.Grant({ accountId: personId, clientId });
    grant.addOIDCScope(scope);
    const id = await grant.save();
    deps.logger.info('application.allowed', { personId, clientId, scopes: scope });
    return id;
  }

  async function finish(interaction: InteractionModel, result: object): Promise<string> {
    interaction.result = result;
    await interaction.save(Math.max(1, interaction.exp - nowS()));
    return interaction.returnTo;
  }

  async function deviceCodeOf(userCode: string) {
    const { DeviceCode } = await provider();
    const found = await DeviceCode.findByUserCode(isFromDevice(userCode));
    return found === undefined || found.accountId !== undefined || found.error !== undefined ? null : found;
  }

  return {
    async find(uid, asking): Promise<ConsentRequest> {
      const { prompt, params } = await interactionOf(uid, asking);
      const application = await applicationOf(params.client_id ?? '');
      const scopes = (params.scope ?? '').split(' ');
      return {
        uid,
        application,
        wants: describeScopes(scopes),
        leadsTo: params.redirect_uri ?? application.redirectUris[0]!,
        needs:
          prompt.name !== 'login'
            ? 'consent'
            : prompt.reasons.some((reason) => reason === 'id_token_hint' || reason.startsWith('claims_'))
              ? 'another-account'
              : 'confirmation',
      };
    },
    async approve(uid, asking) {
      const interaction = await interactionOf(uid, asking);
      if (interaction.prompt.name !== 'consent') throw gone();
      const { client_id: clientId = '', scope = 'all' } = interaction.params;
      const grantId = await grantTo(await provider(), { clientId, personId: asking.personId, scope });
      return finish(interaction, { ...interaction.lastSubmission, consent: { grantId } });
    },
    async confirm(uid, asking) {
      const interaction = await interactionOf(uid, asking);
      if (interaction.prompt.name !== 'login') throw gone();
      return finish(interaction, {
        ...interaction.lastSubmission,
        login: { accountId: asking.personId, ts: nowS() },
      });
    },
    async deny(uid, asking) {
      const interaction = await interactionOf(uid, asking);
      return finish(interaction, { error: 'access_denied', error_description: 'The user did not allow it.' });
    },
    async findDevice(userCode): Promise<DeviceRequest | null> {
      const code = await deviceCodeOf(userCode);
      if (code === null) return null;
      const application = await applicationOf(code.clientId);
      return { application, wants: describeScopes((code.params.scope ?? 'all').split(' ')) };
    },
    async approveDevice(userCode, asking) {
      const code = await deviceCodeOf(userCode);
      if (code === null) throw gone();
      const scope = code.params.scope ?? 'all';
      const grantId = await grantTo(await provider(), { clientId: code.clientId, personId: asking.personId, scope });
      Object.assign(code, { accountId: asking.personId, grantId, scope, claims: {}, authTime: nowS() });
      await code.save(Math.max(1, code.exp - nowS()));
    },
    async denyDevice(userCode) {
      const code = await deviceCodeOf(userCode);
      if (code === null) throw gone();
      Object.assign(code, { error: 'access_denied', errorDescription: 'The user did not allow it.' });
      await code.save(Math.max(1, code.exp - nowS()));
    },
  };
}
