/** A task waiting for a thread. */
interface Queued {
  /** The client of the task. */
  client: string;
}

/** A bounded queue that serves its clients round robin: a client with a hundred tasks delays another by at most one. */
export class TaskQueue<Job extends Queued> {
  readonly #maxJobs: number;
  readonly #maxJobsOfClient: number;
  /** Clients in the order of their turns. */
  readonly #byClient = new Map<string, Job[]>();
  #size = 0;

  constructor(limits: { maxJobs: number; maxJobsOfClient: number }) {
    this.#maxJobs = limits.maxJobs;
    this.#maxJobsOfClient = limits.maxJobsOfClient;
  }

  get size(): number {
    return this.#size;
  }

  /** False if the queue, or the client's share of it, is full. */
  add(job: Job): boolean {
    const jobs = this.#byClient.get(job.client) ?? [];
    if (this.#size >= this.#maxJobs || jobs.length >= this.#maxJobsOfClient) return false;
    jobs.push(job);
    this.#byClient.set(job.client, jobs);
    this.#size += 1;
    return true;
  }

  /** The next task of the client whose turn it is. */
  take(): Job | undefined {
    const [next] = this.#byClient;
    if (next === undefined) return undefined;
    const [client, jobs] = next;
    const job = jobs.shift()!;
    this.#byClient.delete(client);
    if (jobs.length > 0) this.#byClient.set(client, jobs);
    this.#size -= 1;
    return job;
  }

  /** Removes a task without waiting callers; false if it is no longer queued. */
  remove(job: Job): boolean {
    const jobs = this.#byClient.get(job.client) ?? [];
    const at = jobs.indexOf(job);
    if (at === -1) return false;
    jobs.splice(at, 1);
    if (jobs.length === 0) this.#byClient.delete(job.client);
    this.#size -= 1;
    return true;
  }

  removeAll(): Job[] {
    const all = [...this.#byClient.values()].flat();
    this.#byClient.clear();
    this.#size = 0;
    return all;
  }
}
