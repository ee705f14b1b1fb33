/** A refusal in HTTP's own words, for requests that are wrong before any room is asked. */
export class Refusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param status an HTTP status of 400 or more
   * @param message a sentence for the person, safe to show
   */
  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}
