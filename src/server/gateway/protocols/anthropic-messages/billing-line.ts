/**
 * Claude Code begins its system prompt with a line that tells Anthropic which client asks. It changes with every call, so that no
 * other host finds its prompt cache again, and Bedrock refuses it.
 */
const billingLine = /^x-anthropic-billing-header:[^\n]*(\n+|$)/

/** A text of a system prompt without that line. */
export function withoutBillingLine(text: string): string {
  return text.replace(billingLine, '')
}
