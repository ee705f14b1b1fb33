import { bindDeps } from '../kernel/index.ts';
import type { Config } from '../config/index.ts';
import { createOutbound, isAllowedHost } from '../outbound/index.ts';
import { InstanceKey } from '../sealing/index.ts';
import { listDeliveries, redeliver, redeliverAny, testWebhook } from './deliveries.ts';
import { webhookKind } from './enqueue-delivery.ts';
import { webhookHandler } from './send-delivery.ts';
import { onDeployment } from './events/deployment.ts';
import { onEntry } from './events/entry.ts';
import { onFork } from './events/fork.ts';
import { onWiki } from './events/wiki.ts';
import { onPush } from './events/push.ts';
import { onPackage } from './events/package.ts';
import { onRelease } from './events/release.ts';
import { onLifecycle } from './events/repository.ts';
import { onStatus } from './events/status.ts';
import { onRunEnd } from './events/run.ts';
import { addWebhook, editWebhook, findWebhook, listWebhooks, removeWebhook } from './manage-webhooks.ts';
import { reencryptSecrets } from './encrypt-secret.ts';
import type { WebhookDeps } from './deps.ts';
import type { WebhookScope } from './scope.ts';

interface WebhookOptions extends Omit<WebhookDeps, 'settings' | 'outbound' | 'key'> {
  config: Pick<Config, 'baseUrl' | 'caFile' | 'ssh' | 'webhooks'>;
  /** The instance key, which decrypts stored secrets. */
  keyFile: string;
}

/** Webhooks and their delivery queue. The caller checks access to their scope. */
export function createWebhooks({ config, keyFile, ...tools }: WebhookOptions) {
  const { baseUrl, caFile, webhooks } = config;
  // Whether a host is on the administrator's list, which allows any address and http.
  const isNamed = (url: URL): boolean => isAllowedHost(url, webhooks.allowedHosts);
  const deps: WebhookDeps = {
    ...tools,
    outbound: createOutbound({
      // Any public host is allowed; a private one must be listed.
      isAllowed: () => true,
      devAllowInsecure: false,
      allowsPrivate: isNamed,
      allowsHttp: isNamed,
      baseUrl,
      caFile,
    }),
    key: new InstanceKey(keyFile, tools.random, 'webhooks'),
    settings: { baseUrl, sshOrigin: sshOrigin(config), maxAttempts: webhooks.maxAttempts },
  };
  const { outbox } = deps;
  outbox.register(webhookHandler(deps));
  const wake = (): void =>
    void outbox.drain(webhookKind).catch((error: unknown) => deps.logger.error('webhook.drain_failed', { error }));

  const bind = bindDeps(deps);

  return {
    list: bind(listWebhooks),
    /** Re-encrypts all secrets after a rotation of the instance key. */
    reencrypt: bind(reencryptSecrets),
    find: bind(findWebhook),
    add: bind(addWebhook),
    edit: bind(editWebhook),
    remove: bind(removeWebhook),
    listDeliveries: bind(listDeliveries),
    /** The delivery is sent at once, in parallel to the response. */
    async redeliver(scope: WebhookScope, webhookId: string, deliveryId: number): Promise<number> {
      const id = await redeliver(deps, scope, webhookId, deliveryId);
      wake();
      return id;
    },
    async redeliverAny(deliveryId: number): Promise<number> {
      const id = await redeliverAny(deps, deliveryId);
      wake();
      return id;
    },
    async test(scope: WebhookScope, webhookId: string): Promise<number> {
      const id = await testWebhook(deps, scope, webhookId);
      wake();
      return id;
    },

    /** Listener for `repositories.pushes.onPush`. */
    onPush: onPush(deps, wake),
    /** Listener for `issues.onEntry`. */
    onEntry: onEntry(deps, wake),
    /** Listener for `repositories.wikis.onChange`. */
    onWiki: onWiki(deps),
    /** Listener for `repositories.forks.onFork`. */
    onFork: onFork(deps),
    /** Listener for `repositories.onLifecycle`. */
    onLifecycle: onLifecycle(deps),
    /** Listener for `releases.onEvent`. */
    onRelease: onRelease(deps),
    /** Listener for `packages.onEvent`. */
    onPackage: onPackage(deps),
    /** Listener for `repositories.statuses.onRecord`. */
    onStatus: onStatus(deps),
    /** Listener for `ci.onDeployment`. */
    onDeployment: onDeployment(deps),
    /** Listener for `ci.onRunEnd`. */
    onRunEnd: onRunEnd(deps),
    /** Scheduled task: sends due deliveries. */
    drain: () => outbox.drain(webhookKind),
    /** Scheduled task. */
    removeOld: () => outbox.removeOld(webhookKind),
    /** Called after the outbox has stopped. */
    stop: (): void => deps.outbound.close(),
  };
}

export type Webhooks = ReturnType<typeof createWebhooks>;

/** Before the server listens, a port chosen by the system is unknown; then payloads have only https URLs. */
function sshOrigin({ baseUrl, ssh }: WebhookOptions['config']): string | null {
  const port = ssh.publicPort ?? ssh.listen.port;
  if (baseUrl === null || !ssh.enabled || port === 0) return null;
  return `ssh://git@${ssh.publicHost ?? new URL(baseUrl).hostname}${port === 22 ? '' : `:${port}`}`;
}
