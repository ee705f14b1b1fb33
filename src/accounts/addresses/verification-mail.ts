/** The kind of the mail that has the link by which an address is verified. */
export const verificationMail = 'address.verify';

/** Its data; the address is looked up when the mail is sent. */
export interface VerificationMail {
  addressId: string;
  /** Of the link; the queue keeps messages encrypted. */
  secret: string;
}
