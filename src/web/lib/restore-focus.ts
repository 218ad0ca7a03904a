/** The last focused element, which may have been removed or disabled. */
let last: HTMLElement | undefined
let busy: HTMLElement | undefined

export const lastFocused = (): HTMLElement | undefined => last

/**
 * Busy elements are disabled, and disabled elements lose the focus, which would send keyboard users to the start of the page. The
 * focus is restored when the element is enabled, unless another element has it.
 */
export function restoreFocus(): void {
  new MutationObserver((changes) => {
    for (const { target } of changes) if (target instanceof HTMLElement && target === last) follow(target)
  }).observe(document.body, { subtree: true, attributeFilter: ['disabled'] })
  document.addEventListener('focusin', ({ target }) => remember(target))
  document.addEventListener('pointerdown', ({ target }) => {
    // A focused element gets no second focus event, and a pointer does not focus an item of a menu.
    if (!(target instanceof Element && last?.contains(target))) remember(itemAt(target))
  })
}

function itemAt(target: EventTarget | null): Element | null {
  return target instanceof Element ? target.closest('[role=menuitem]') : null
}

function remember(target: EventTarget | null): void {
  last = target instanceof HTMLElement ? target : undefined
  busy = undefined
}

function follow(element: HTMLElement): void {
  if (element.matches(':disabled')) {
    busy = element
    // Not every browser fires an event when the focus is lost; tooltips would stay open.
    element.blur()
  } else if (element === busy) {
    busy = undefined
    if (document.activeElement === document.body) element.focus({ preventScroll: true })
  }
}
