import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import type { Database } from '../db/index.ts';
import { createKeyedMutex } from '../kernel/index.ts';
import type { Clock, LogFields, Logger } from '../kernel/index.ts';
import { auditSchema } from './audit-schema.ts';
import type { AuditRow } from './audit-schema.ts';
import { auditedEvents } from './audited-events.ts';
import { createChainCheck, entryAfter } from './hash-chain.ts';
import type { ChainBreak } from './hash-chain.ts';

/** The actor and the network address. */
interface Actor {
  /** UUID of a person, `local`, `server` or `anonymous`. */
  by: string;
  address: string | null;
}

export interface AuditEntry extends Omit<AuditRow, 'details'> {
  details: Record<string, unknown>;
}

/** Which entries are listed; what is left out does not matter. */
export interface AuditFilter {
  /** Id of a person, `local`, `server` or `anonymous`. */
  actor?: string | undefined;
  /** The beginning of its name: `repository.` for all of them. */
  event?: string | undefined;
  /** Not earlier than, and earlier than; milliseconds since the epoch. */
  since?: number | undefined;
  until?: number | undefined;
}

/**
 * The audit log. Modules log their actions as events with stable names; audited events are stored here, each chained to
 * the entry before it.
 */
export interface Audit {
  /** A logger that also records audited events. */
  auditing(logger: Logger): Logger;
  /** Runs `work` with this actor for all its entries. */
  as<T>(actor: Actor, work: () => Promise<T>): Promise<T>;
  /** Newest first. */
  list(options: AuditFilter & { limit: number; before?: number }): Promise<AuditEntry[]>;
  /**
   * The first entry that breaks the chain; null when the whole log is intact.
   * @param known an entry that was seen earlier: without it the newest entries could be missing unnoticed
   */
  findBreak(known?: Pick<AuditRow, 'id' | 'hash'> | null): Promise<ChainBreak | null>;
  /** Resolves when all recorded entries are on disk. */
  flush(): Promise<void>;
}

interface AuditDeps {
  db: Database;
  clock: Clock;
  logger: Logger;
  /** The actor outside `as`: `local` in a command, `server` in the server. */
  otherwise: 'local' | 'server';
}

const rowsAtOnce = 500;
const maxDetailsLength = 4_000;

export function createAudit({ db, clock, logger, otherwise }: AuditDeps): Audit {
  const acting = new AsyncLocalStorage<Actor>();
  const mutex = createKeyedMutex<'chain'>();
  // An event may be logged inside a write; its entry is a write of its own, after it.
  const outside = AsyncResource.bind((entry: Omit<AuditRow, 'id' | 'hash'>) => {
    void mutex('chain', () => append(entry));
  });

  async function append(entry: Omit<AuditRow, 'id' | 'hash'>): Promise<void> {
    try {
      const { id, hash } = await db.write(async ({ manager }) => {
        const [last] = await manager.find(auditSchema, { order: { id: 'DESC' }, take: 1 });
        const row = entryAfter(last ?? null, entry);
        await manager.insert(auditSchema, row);
        return row;
      });
      // A second place for the end of the chain: `hearth log verify --known` compares the two.
      logger.info('audit.entry', { entry: id, hash });
    } catch (error) {
      logger.error('audit.entry_lost', { entry: entry.event, actor: entry.actor, error });
    }
  }

  function record(event: string, fields: LogFields = {}): void {
    if (!auditedEvents.has(event)) return;
    const { by, ...rest } = fields as LogFields & { by?: unknown };
    const { by: present, address } = acting.getStore() ?? { by: otherwise, address: null };
    const details = JSON.stringify(rest).slice(0, maxDetailsLength);
    outside({ at: clock.now(), actor: typeof by === 'string' ? by : present, address, event, details });
  }

  const auditing = (inner: Logger): Logger => ({
    ...inner,
    info(event, fields) {
      inner.info(event, fields);
      record(event, fields);
    },
    child: (fields) => auditing(inner.child(fields)),
  });

  return {
    auditing,
    as: (actor, work) => acting.run(actor, work),
    async list({ limit, before = Number.MAX_SAFE_INTEGER, actor, event, since, until }) {
      const query = db.read.createQueryBuilder(auditSchema, 'entry').where('entry.id < :before', { before });
      if (actor !== undefined) query.andWhere('entry.actor = :actor', { actor });
      // A range instead of LIKE, whose wildcards a name may contain.
      if (event !== undefined)
        query.andWhere('entry.event >= :event AND entry.event < :eventEnd', { event, eventEnd: `${event}\u{10ffff}` });
      if (since !== undefined) query.andWhere('entry.at >= :since', { since });
      if (until !== undefined) query.andWhere('entry.at < :until', { until });
      const rows = await query.orderBy('entry.id', 'DESC').limit(limit).getMany();
      return rows.map((row) => ({ ...row, details: readDetails(row.details) }));
    },
    async findBreak(known = null) {
      const check = createChainCheck(known);
      for (let after = 0; ; after += rowsAtOnce) {
        const rows = await db.read.find(auditSchema, { order: { id: 'ASC' }, skip: after, take: rowsAtOnce });
        for (const row of rows) {
          const found = check.row(row);
          if (found !== null) return found;
        }
        if (rows.length < rowsAtOnce) return check.end();
      }
    },
    flush: () => mutex.settled(),
  };
}

/** Details that were truncated are no JSON; they are shown as text. */
function readDetails(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return { text };
  }
}
