/** What cannot be taken back is done only shortly after a proof of who does it; the server says when it wants one. */

type Asker = () => Promise<boolean>
let ask: Asker = async () => false
let asking: Promise<boolean> | undefined

/** Who asks for the proof, such as a dialog of the shell. */
export function onProofRequired(asker: Asker): void {
  ask = asker
}

/** Whether it was given. Calls that need it at once share one question. */
export function proveAgain(): Promise<boolean> {
  asking ??= ask().finally(() => {
    asking = undefined
  })
  return asking
}
