import { auditSchema } from './audit-schema.ts';

export { createAudit } from './audit.ts';
export type { Actor, Audit, AuditDeps, AuditEntry, AuditFilter } from './audit.ts';
export { auditedEvents } from './audited-events.ts';
export { entryAfter } from './hash-chain.ts';
export type { ChainBreak } from './hash-chain.ts';

export const auditEntities = [auditSchema];
