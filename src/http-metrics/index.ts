import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { notFound } from '../kernel/index.ts';
import { formatMetrics, readToken } from '../http/index.ts';
import type { Admission, HttpMetrics, MetricFamily, Middleware } from '../http/index.ts';
import type { WebDeps } from '../web/index.ts';
import { collectFederationMetrics } from './federation-metrics.ts';
import { collectGitMetrics } from './git-metrics.ts';
import { collectImageMetrics } from './image-metrics.ts';
import { collectObjectMetrics } from './object-metrics.ts';
import { collectOutboxMetrics } from './outbox-metrics.ts';
import { collectStoreMetrics } from './store-metrics.ts';
import { collectInstanceMetrics } from './instance-metrics.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Node measures by a timer, and counts the time until it is due as well. */
const sampledEveryMs = 20;

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * `GET /metrics`, for loopback clients and clients with the metrics token; 404 for all others. A request through
 * a proxy never counts as loopback, also when the proxy runs on this machine and does not name the client.
 */
export function serveMetrics(deps: WebDeps, counts: HttpMetrics, admission: Pick<Admission, 'families'>): Middleware {
  const delay = monitorEventLoopDelay({ resolution: sampledEveryMs });
  delay.enable();
  const { token } = deps.config.metrics;

  return async (ctx) => {
    const given = readToken(ctx.req.headers.authorization);
    const hasToken = token !== null && given !== null && timingSafeEqual(sha256(given), sha256(token));
    const wasForwarded = [
      'X-Forwarded-For',
      'X-Forwarded-Proto',
      'X-Forwarded-Host',
      'X-Real-IP',
      'Forwarded',
      'Via',
    ].some((name) => ctx.get(name) !== '');
    const { address } = ctx.state;
    const isHere = isIP(address) !== 0 && loopback.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
    if (!hasToken && (wasForwarded || !isHere)) throw notFound();

    const lag: MetricFamily = {
      name: 'event_loop_delay_seconds',
      type: 'gauge',
      help: 'How late the event loop was since the last look.',
      samples: [50, 90, 99].map((quantile) => ({
        labels: { quantile: String(quantile / 100) },
        value: Math.max(0, delay.percentile(quantile) / 1e6 - sampledEveryMs) / 1000,
      })),
    };
    delay.reset();
    ctx.type = 'text/plain; version=0.0.4; charset=utf-8';
    ctx.set('Cache-Control', 'no-store');
    ctx.body = formatMetrics([
      ...counts.families(),
      ...collectGitMetrics(deps.git.traffic),
      ...admission.families(),
      lag,
      ...(await collectInstanceMetrics(deps)),
      ...collectOutboxMetrics(deps),
      ...collectImageMetrics(deps),
      ...collectObjectMetrics(deps),
      ...(await collectStoreMetrics(deps)),
      ...(await collectFederationMetrics(deps)),
    ]);
  };
}
