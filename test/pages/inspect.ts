/** What is asked of a page from inside, as expressions for the browser. */

/**
 * What reaches beyond the screen, or beyond its own box so that a part of it cannot be seen. What can be
 * scrolled by itself up and down may be long, but nothing may have to be scrolled sideways.
 */
export const overflows = `(() => {
  const nameOf = element => element.tagName.toLowerCase() + '.' + element.className + ' ' + element.textContent.slice(0, 60)
  const { clientWidth, scrollWidth } = document.documentElement
  const found = scrollWidth > clientWidth ? ['the page is ' + scrollWidth + ' wide'] : []
  for (const element of document.body.querySelectorAll('*')) {
    const { left, right, width } = element.getBoundingClientRect()
    if (width > 0 && (right > clientWidth + 0.5 || left < -0.5)) found.push('beyond the screen: ' + nameOf(element))
    if (getComputedStyle(element).display !== 'inline' && element.scrollWidth > element.clientWidth + 1)
      found.push('beyond its box: ' + nameOf(element))
  }
  return found
})()`

/** Links within the page to what is not there, and names that are given twice. */
export const brokenAnchors = `(() => {
  const ids = [...document.querySelectorAll('[id]')].map(element => element.id)
  const links = [...document.querySelectorAll('a[href^="#"]')].map(link => link.getAttribute('href').slice(1))
  return [
    ...links.filter(id => !ids.includes(id)).map(id => 'nothing has the id ' + id),
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map(id => 'twice: ' + id),
  ]
})()`

/** Text that stands out from what is behind it by less than 4.5 : 1 (WCAG 2, level AA). */
export const badContrasts = `(() => {
  const channel = value => (value /= 255) <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number)
  const luminance = ([red, green, blue]) =>
    0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue)
  const behind = element => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor)
      if (colour.length === 3 || colour[3] === 1) return colour
    }
    return [255, 255, 255]
  }
  const found = new Set()
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (text.data.trim() === '') continue
    const element = text.parentElement
    const [light, dark] = [luminance(numbers(getComputedStyle(element).color)), luminance(behind(element))]
      .sort((left, right) => right - left)
    const ratio = (light + 0.05) / (dark + 0.05)
    if (ratio < 4.5) found.add(element.tagName.toLowerCase() + '.' + element.className + ' ' + ratio.toFixed(2))
  }
  return [...found]
})()`

/** How wide the icon in the page is, if the policy of the page lets it be shown. */
export const iconWidth = `new Promise((resolve, reject) => {
  const image = new Image()
  image.onload = () => resolve(image.naturalWidth)
  image.onerror = () => reject(new Error('the icon is not shown'))
  image.src = document.querySelector('link[rel=icon]').href
})`
