// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Carrier of the virtual AGX machine
 *
 * A PCI function whose BAR 0 is the register space of platform devices; the
 * device tree describes them below the function's own node. The carrier enables
 * the function, turns its MSI-X vectors into the interrupts that those nodes
 * name, tells the device how its clock and this machine's counter relate, and
 * creates the platform devices. It does not know what they are.
 *
 * A carrier stays: one of the platform devices is a power controller, whose
 * driver in the kernel never takes back the power domain that it offers.
 *
 * Copyright (C) 2026 The asahi driver authors
 */

#include <linux/cleanup.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/irqdomain.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/preempt.h>

#include <asm/arch_timer.h>

#include "vagx/vagx_carrier.h"

#define CARRIER_CLOCK_SAMPLES		16

/**
 * struct carrier_irq - one MSI-X vector
 * @domain: the domain that its interrupt is demultiplexed into
 * @hwirq: its number there
 */
struct carrier_irq {
	struct irq_domain *domain;
	irq_hw_number_t hwirq;
};

/**
 * struct carrier - the PCI function's driver data
 *
 * Lives from probe on, or until a failed probe returns. Nothing in it changes
 * after probe, so it needs no lock.
 *
 * @pdev: the PCI function
 * @regs: the carrier's page of registers
 * @domain: interrupt domain of the nodes below the function's node
 * @irqs: the MSI-X vectors
 * @changeset: what was changed in the device tree
 */
struct carrier {
	struct pci_dev *pdev;
	void __iomem *regs;
	struct irq_domain *domain;
	struct carrier_irq irqs[VAGX_CARRIER_IRQS];
	struct of_changeset changeset;
};

static void carrier_irq_nop(struct irq_data *d)
{
}

/*
 * The devices' interrupts are levels, an MSI is an edge: a level that rose while
 * the interrupt was disabled would be lost. So the device is asked to send it
 * again, if the level still holds.
 */
static void carrier_irq_enable(struct irq_data *d)
{
	struct carrier *carrier = irq_data_get_irq_chip_data(d);

	writeq(BIT_ULL(irqd_to_hwirq(d)), carrier->regs + VAGX_CARRIER_REEVALUATE);
}

static int carrier_irq_set_type(struct irq_data *d, unsigned int type)
{
	return 0;
}

static const struct irq_chip carrier_irq_chip = {
	.name = "vagx-carrier",
	.irq_enable = carrier_irq_enable,
	.irq_disable = carrier_irq_nop,
	.irq_ack = carrier_irq_nop,
	.irq_mask = carrier_irq_nop,
	.irq_unmask = carrier_irq_nop,
	.irq_set_type = carrier_irq_set_type,
	.flags = IRQCHIP_SKIP_SET_WAKE,
};

static int carrier_irq_map(struct irq_domain *domain, unsigned int virq, irq_hw_number_t hwirq)
{
	irq_set_chip_data(virq, domain->host_data);
	irq_set_chip_and_handler(virq, &carrier_irq_chip, handle_edge_irq);
	/* What was pending while it was disabled is not handled when it is enabled. */
	irq_set_status_flags(virq, IRQ_LEVEL);
	return 0;
}

static const struct irq_domain_ops carrier_irq_domain_ops = {
	.map = carrier_irq_map,
	.xlate = irq_domain_xlate_onecell,
};

/*
 * Under load an MSI arrives long after its level has fallen, and a device whose interrupt
 * is handled may be without power by then.
 */
static irqreturn_t carrier_handle_vector(int irq, void *data)
{
	struct carrier_irq *vector = data;
	struct carrier *carrier = vector->domain->host_data;

	if (!(readq(carrier->regs + VAGX_CARRIER_LEVELS) & BIT_ULL(vector->hwirq)))
		return IRQ_HANDLED;
	if (generic_handle_domain_irq(vector->domain, vector->hwirq))
		return IRQ_NONE;
	return IRQ_HANDLED;
}

static void carrier_dispose_mappings(void *data)
{
	struct carrier *carrier = data;
	unsigned int i;

	for (i = 0; i < VAGX_CARRIER_IRQS; i++)
		irq_dispose_mapping(irq_find_mapping(carrier->domain, i));
}

static int carrier_init_irqs(struct carrier *carrier)
{
	struct device *dev = &carrier->pdev->dev;
	struct irq_domain_info info = {
		.fwnode = dev_fwnode(dev),
		.size = VAGX_CARRIER_IRQS,
		.hwirq_max = VAGX_CARRIER_IRQS,
		.ops = &carrier_irq_domain_ops,
		.host_data = carrier,
	};
	unsigned int i;
	int ret;

	ret = pci_alloc_irq_vectors(carrier->pdev, VAGX_CARRIER_IRQS, VAGX_CARRIER_IRQS,
				    PCI_IRQ_MSIX);
	if (ret < 0)
		return dev_err_probe(dev, ret, "no MSI-X vectors\n");

	carrier->domain = devm_irq_domain_instantiate(dev, &info);
	if (IS_ERR(carrier->domain))
		return dev_err_probe(dev, PTR_ERR(carrier->domain), "no interrupt domain\n");

	ret = devm_add_action_or_reset(dev, carrier_dispose_mappings, carrier);
	if (ret)
		return ret;

	for (i = 0; i < VAGX_CARRIER_IRQS; i++) {
		carrier->irqs[i].domain = carrier->domain;
		carrier->irqs[i].hwirq = i;
		ret = devm_request_irq(dev, pci_irq_vector(carrier->pdev, i), carrier_handle_vector,
				       IRQF_NO_THREAD, "vagx-carrier", &carrier->irqs[i]);
		if (ret)
			return dev_err_probe(dev, ret, "cannot request vector %u\n", i);
	}
	return 0;
}

/*
 * The device's time runs on the host, the devices' drivers read this machine's
 * counter. A pair of readings that belong together is as good as the round trip
 * between them is short, so only the best of several is told to the device.
 */
static void carrier_post_clock_sample(struct carrier *carrier)
{
	u64 best_trip = U64_MAX, counter = 0, host_time = 0;
	unsigned int i;

	for (i = 0; i < CARRIER_CLOCK_SAMPLES; i++) {
		u64 before, after, host;

		scoped_guard(preempt) {
			before = __arch_counter_get_cntvct();
			host = readq(carrier->regs + VAGX_CARRIER_HOST_TIME);
			after = __arch_counter_get_cntvct();
		}
		if (after - before < best_trip) {
			best_trip = after - before;
			counter = before + best_trip / 2;
			host_time = host;
		}
	}

	writeq(arch_timer_get_cntfrq(), carrier->regs + VAGX_CARRIER_COUNTER_RATE);
	writeq(counter, carrier->regs + VAGX_CARRIER_SAMPLE_COUNTER);
	writeq(host_time, carrier->regs + VAGX_CARRIER_SAMPLE_HOST_TIME);
	dev_dbg(&carrier->pdev->dev, "clock sampled within %llu ticks\n", best_trip);
}

static void carrier_revert_changeset(void *data)
{
	struct carrier *carrier = data;

	of_changeset_revert(&carrier->changeset);
	of_changeset_destroy(&carrier->changeset);
}

/*
 * The device tree cannot know where the BAR is, so it has no "ranges" until
 * here. The node keeps the property when the changeset is reverted; it is
 * therefore one that belongs to the node, not to this device.
 */
static int carrier_set_ranges(struct carrier *carrier)
{
	struct device *dev = &carrier->pdev->dev;
	u64 start = pci_bus_address(carrier->pdev, 0);
	u64 size = pci_resource_len(carrier->pdev, 0);
	const u32 cells[] = {
		0, 0,				/* offset inside the BAR */
		0x02000000,			/* PCI memory space */
		upper_32_bits(start), lower_32_bits(start),
		upper_32_bits(size), lower_32_bits(size),
	};
	int ret;

	of_changeset_init(&carrier->changeset);
	ret = of_changeset_add_prop_u32_array(&carrier->changeset, dev_of_node(dev), "ranges",
					      cells, ARRAY_SIZE(cells));
	if (!ret)
		ret = of_changeset_apply(&carrier->changeset);
	if (ret) {
		of_changeset_destroy(&carrier->changeset);
		return dev_err_probe(dev, ret, "cannot change the device tree\n");
	}
	return devm_add_action_or_reset(dev, carrier_revert_changeset, carrier);
}

static int carrier_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct device *dev = &pdev->dev;
	struct carrier *carrier;
	int ret;

	if (!dev_of_node(dev))
		return dev_err_probe(dev, -ENODEV, "no device-tree node for this function\n");

	carrier = devm_kzalloc(dev, sizeof(*carrier), GFP_KERNEL);
	if (!carrier)
		return -ENOMEM;
	carrier->pdev = pdev;
	pci_set_drvdata(pdev, carrier);

	ret = pcim_enable_device(pdev);
	if (ret)
		return ret;
	pci_set_master(pdev);

	/* The rest of the BAR is the platform devices' to request. */
	carrier->regs = devm_ioremap(dev, pci_resource_start(pdev, 0) + VAGX_CARRIER_PAGE,
				     VAGX_CARRIER_PAGE_SIZE);
	if (!carrier->regs)
		return -ENOMEM;
	if (readq(carrier->regs + VAGX_CARRIER_ID) != VAGX_CARRIER_ID_V1)
		return dev_err_probe(dev, -ENODEV, "unknown device\n");

	ret = carrier_init_irqs(carrier);
	if (ret)
		return ret;
	ret = carrier_set_ranges(carrier);
	if (ret)
		return ret;
	carrier_post_clock_sample(carrier);
	/* The default table of buses: the power controllers are below a node of their own. */
	return of_platform_default_populate(dev_of_node(dev), NULL, dev);
}

/*
 * Having sleep operations, the function keeps bus mastering while the machine
 * sleeps, and with it its interrupts. The PCI core restores the rest of its
 * configuration. What rose in between is sent again; the devices' time may have
 * drifted from this machine's.
 */
static int carrier_resume(struct device *dev)
{
	struct carrier *carrier = dev_get_drvdata(dev);

	carrier_post_clock_sample(carrier);
	writeq(GENMASK_ULL(VAGX_CARRIER_IRQS - 1, 0), carrier->regs + VAGX_CARRIER_REEVALUATE);
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(carrier_pm_ops, NULL, carrier_resume);

static const struct pci_device_id carrier_ids[] = {
	{ PCI_DEVICE(VAGX_CARRIER_PCI_VENDOR, VAGX_CARRIER_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, carrier_ids);

static struct pci_driver carrier_driver = {
	.name = "vagx-carrier",
	.id_table = carrier_ids,
	.probe = carrier_probe,
	.driver = {
		.pm = pm_sleep_ptr(&carrier_pm_ops),
		.suppress_bind_attrs = true,
	},
};

static int __init carrier_init(void)
{
	return pci_register_driver(&carrier_driver);
}
module_init(carrier_init);

MODULE_DESCRIPTION("Carrier of the virtual AGX machine");
MODULE_AUTHOR("The asahi driver authors");
MODULE_LICENSE("Dual MIT/GPL");
