const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** A text as content or attribute of XML, without the characters that XML does not allow. */
export function escapedXml(text: string): string {
  return text.replace(refused, '').replace(/[&<>"']/g, (sign) => entities[sign] ?? '')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML does not allow them.
const refused = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]/g
