import { auditSchema } from './audit-schema.ts';

export { createAudit } from './audit.ts';
export type { Actor, Audit, AuditDeps, AuditEntry } from './audit.ts';
export { auditedEvents } from './audited-events.ts';
export { entryAfter } from './chain.ts';
export type { Break } from './chain.ts';

export const auditEntities = [auditSchema];
