/**
 * The composition root: the only module that imports all others. It builds each once, in dependency order
 * (`open-modules.ts`), and connects their ports (`connect-ports.ts`).
 */
export { createApp } from './create-app.ts';
export type { App } from './create-app.ts';
export { imageFolder, storeOptions } from './data-folders.ts';
export { databaseFile, newestSchema, openDatabase, schemaOfProgram, signOfInstance } from './database.ts';
export type { Modules } from './modules.ts';
export { processFacts } from './process-facts.ts';
export { openModules } from './open-modules.ts';
export { recoverFromStore } from './recover-store.ts';
export { adoptInstanceKey, rotateInstanceKey } from './rotate-instance-key.ts';
export { scheduledTasks } from './scheduled-tasks.ts';
export { listenersOf, subscribeRenderers } from './subscriptions.ts';
