import DOMPurify from 'dompurify'

/** HTML from a saved setting, with everything taken out that could act. Links to elsewhere open apart. */
export function safeHtml(html: string): string {
  return DOMPurify.sanitize(html, { ADD_ATTR: ['target'], FORBID_TAGS: ['form', 'input', 'button', 'textarea', 'select'] })
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A' && node.getAttribute('target')) node.setAttribute('rel', 'noopener noreferrer')
})
