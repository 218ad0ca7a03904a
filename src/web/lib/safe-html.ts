import DOMPurify from 'dompurify'

const profile = {
  ADD_ATTR: ['target'],
  USE_PROFILES: { html: true },
  // Fields could ask for a password here, and a style sheet could change the whole page.
  FORBID_TAGS: ['form', 'input', 'button', 'textarea', 'select', 'style'],
}

/** Sanitizes the HTML of a saved setting: everything active is removed, and links that open another window get no opener. */
export function safeHtml(html: string): string {
  return DOMPurify.sanitize(html, profile)
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A' && node.getAttribute('target')) node.setAttribute('rel', 'noopener noreferrer')
})
