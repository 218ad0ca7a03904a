/** What had the focus last, and may have lost it by going away or by becoming busy. */
let last: HTMLElement | undefined
let busy: HTMLElement | undefined

export const lastFocused = (): HTMLElement | undefined => last

/**
 * What is busy is disabled, and what is disabled loses the focus: somebody at the keyboard would begin anew. So it has the focus again
 * once it can be used, unless somebody has gone on.
 */
export function restoreFocus(): void {
  new MutationObserver((changes) => {
    for (const { target } of changes) if (target instanceof HTMLElement && target === last) follow(target)
  }).observe(document.body, { subtree: true, attributeFilter: ['disabled'] })
  document.addEventListener('focusin', ({ target }) => remember(target))
  document.addEventListener('pointerdown', ({ target }) => {
    // What has the focus already does not get it anew.
    if (!(target instanceof Node && last?.contains(target))) remember(null)
  })
}

function remember(target: EventTarget | null): void {
  last = target instanceof HTMLElement ? target : undefined
  busy = undefined
}

function follow(element: HTMLElement): void {
  if (element.matches(':disabled')) {
    busy = element
    // Not every browser says that the focus has gone; hints over it would stay.
    element.blur()
  } else if (element === busy) {
    busy = undefined
    if (document.activeElement === document.body) element.focus({ preventScroll: true })
  }
}
